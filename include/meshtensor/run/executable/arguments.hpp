// SPDX-License-Identifier: Apache-2.0
// Parses the template arguments of an executable.
#pragma once

#include <type_traits>

#include "meshtensor/device/default.hpp"
#include "meshtensor/pass/lower.hpp"

namespace meshtensor {

/// The argument of an executable whose step the compiler generates for `Device` (see compiled_step).
template <class Device>
struct unrolled {};

// For compiled steps. Headers in run/unrolled define these two.
template <class Stages, class Entry>
struct unrolled_code;
template <class Device, class Code>
struct device_of_code;

namespace detail {

template <class Device>
struct device_argument {
  using type = Device;
  static constexpr bool is_unrolled = false;
};
template <class Device>
struct device_argument<unrolled<Device>> {
  using type = Device;
  static constexpr bool is_unrolled = true;
};

struct no_program {
  constexpr void operator()(scope auto s) const { s.output("y", s.input("x", f32)); }
};
template <class... Args>
struct executable_arguments {
  static_assert(
      sizeof...(Args) == static_cast<std::size_t>(-1),
      "meshtensor T38: an executable is declared by a program, a mesh and a layout, in this order, or by a set "
      "of programs, one of them, a mesh and a layout; a device may follow");
  using programs = no_program;
  using entry = no_program;
  using mesh = meshtensor::mesh<>;
  using layout = meshtensor::layout<>;
  using argument = device_argument<default_device>;
  using device = default_device;
  using unnamed_device = default_device;
  static constexpr bool has_device = true;
};
template <class Programs, class Entry, mesh_type Mesh, layout_type Layout, class... Device>
struct executable_arguments<Programs, Entry, Mesh, Layout, Device...> {
  using programs = Programs;
  using entry = Entry;
  using mesh = Mesh;
  using layout = Layout;
  using argument = device_argument<typename nth<0, Device..., default_device>::type>;
  static constexpr bool has_device = meshtensor::device<typename argument::type>;
  using device = std::conditional_t<has_device, typename argument::type, reference_device>;
  using unnamed_device = std::conditional_t<sizeof...(Device) == 0, device, void>;
};
template <class Program, mesh_type Mesh, layout_type Layout, class... Device>
struct executable_arguments<Program, Mesh, Layout, Device...>
    : executable_arguments<Program, Program, Mesh, Layout, Device...> {};

template <class... Given>
constexpr void refuse_without_store() {
  static_assert(sizeof...(Given) == static_cast<std::size_t>(-1),
                "meshtensor T58: the first argument of an executable is the store of its values, which must outlive "
                "it: mt::store weights(job); train step(weights, batch(64));");
}

}  // namespace detail
}  // namespace meshtensor
