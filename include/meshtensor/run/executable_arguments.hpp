// SPDX-License-Identifier: Apache-2.0
// Parses the template arguments of an executable, and binds the open axis of its mesh to the number of ranks.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "meshtensor/device/default.hpp"
#include "meshtensor/mesh/read_axes.hpp"
#include "meshtensor/pass/lower.hpp"

namespace meshtensor {

/// The argument of an executable whose step the compiler generates for `Device` (see compiled_step).
template <class Device>
struct straight_line {};

namespace detail {

template <class Device>
struct device_argument {
  using type = Device;
  static constexpr bool in_straight_line = false;
};
template <class Device>
struct device_argument<straight_line<Device>> {
  using type = Device;
  static constexpr bool in_straight_line = true;
};

struct no_program {
  constexpr void operator()(scope auto s) const { s.output("y", s.input("x", f32)); }
};
template <class... Args>
struct executable_arguments {
  static_assert(
      sizeof...(Args) == static_cast<std::size_t>(-1),
      "meshtensor T10: an executable is declared by a program, a mesh and a layout, in this order, or by a set "
      "of programs, one of them, a mesh and a layout; a device may follow");
  using programs = no_program;
  using entry = no_program;
  using mesh = meshtensor::mesh<>;
  using layout = meshtensor::layout<>;
  using argument = device_argument<default_device>;
  using device = default_device;
  using unnamed_device = default_device;
};
template <class Program, mesh_type Mesh, layout_type Layout, class... Device>
struct executable_arguments<Program, Mesh, Layout, Device...> {
  using programs = Program;
  using entry = Program;
  using mesh = Mesh;
  using layout = Layout;
  using argument = device_argument<typename nth<0, Device..., default_device>::type>;
  using device = typename argument::type;
  using unnamed_device = std::conditional_t<sizeof...(Device) == 0, device, void>;
};
template <class Programs, class Entry, mesh_type Mesh, layout_type Layout, class... Device>
struct executable_arguments<Programs, Entry, Mesh, Layout, Device...> {
  using programs = Programs;
  using entry = Entry;
  using mesh = Mesh;
  using layout = Layout;
  using argument = device_argument<typename nth<0, Device..., default_device>::type>;
  using device = typename argument::type;
  using unnamed_device = std::conditional_t<sizeof...(Device) == 0, device, void>;
};

/// Binds the axes that MESHTENSOR_MESH names, as in `data=2,model=2`.
///
/// errors  S01 the text has another form, the mesh lacks the axis, or its type or the program gives the axis another
/// size
template <class = lazy>
void bind_axes_of_environment(mesh_shape& mesh) {
  char const* const text = std::getenv("MESHTENSOR_MESH");
  if (text == nullptr || mesh.count == 0) return;
  read_axes(text, "MESHTENSOR_MESH", [&](axis_extent a) {
    try {
      mesh.bind(a);
    } catch (error const& e) { throw error(e.code(), e.sentence() + "; --mesh or MESHTENSOR_MESH asks for it"); }
  });
}

#if MESHTENSOR_COMPILED
extern template void bind_axes_of_environment<lazy>(mesh_shape&);
#endif

/// Binds the first axis that the type and the caller leave open, so that the mesh has as many ranks as processes were
/// started. Without a launcher the axis gets the size 1.
inline void bind_open_axis(mesh_shape& mesh, int started) {
  int open = -1;
  std::int64_t others = 1;
  for (int a = 0; a < mesh.count; ++a) {
    if (mesh.axes[a].extent != 0) others *= mesh.axes[a].extent;
    else if (open < 0) open = a;
  }
  if (open < 0) return;
  if (started == 0) started = static_cast<int>(others);
  if (started % others != 0)
    throw error("R05", {started, (started == 1 ? " process was" : " processes were"), " started, but the axis '",
                        mesh.axes[open].label, "' is open and the other axes of the mesh need ", others,
                        ": start a multiple of that, as by mpirun -n ", 2 * others, ", or give the axis its size, ",
                        mesh.axes[open].label, "(2), and let mt::job::as_threads() make the ranks"});
  mesh.axes[open].extent = started / others;
}

}  // namespace detail
}  // namespace meshtensor
