// SPDX-License-Identifier: Apache-2.0
// Calls a function with the device that a command line names, among those that the example was built for.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <meshtensor/device/default.hpp>
#if MESHTENSOR_EXAMPLE_CUDA
#  include <meshtensor/device/cuda/device.hpp>
#endif
#if MESHTENSOR_EXAMPLE_PJRT
#  include <meshtensor/device/pjrt/device.hpp>
#endif

#include "devices.hpp"

namespace examples {

template <class Device>
struct built_device {
  using type = Device;
  char const* name;
};

/// `cpu`, or `reference` if the libraries of the cpu device are missing.
inline constexpr char const* name_of_default =
    std::is_same_v<meshtensor::default_device, meshtensor::reference_device> ? "reference" : "cpu";

/// `First`, which is used if no device is named, and then the devices of MESHTENSOR_EXAMPLE_DEVICES.
template <class First>
inline constexpr std::tuple built_devices{
    built_device<First>{std::is_same_v<First, meshtensor::reference_device> ? "reference" : name_of_default},
#if MESHTENSOR_EXAMPLE_CPU
    built_device<meshtensor::default_device>{name_of_default},
#endif
#if MESHTENSOR_EXAMPLE_REFERENCE
    built_device<meshtensor::reference_device>{"reference"},
#endif
#if MESHTENSOR_EXAMPLE_CUDA
    built_device<meshtensor::cuda_device>{"cuda"},
#endif
#if MESHTENSOR_EXAMPLE_PJRT
    built_device<meshtensor::pjrt_device>{"pjrt"},
#endif
};
template <class First = meshtensor::default_device>
std::vector<std::string> built_names() {
  return std::apply([](auto const&... each) { return std::vector<std::string>{each.name...}; }, built_devices<First>);
}

/// The name by which `on_device` finds a device that the example was built for.
template <class Device, class First = meshtensor::default_device>
std::string name_of_device() {
  std::string found;
  std::apply(
      [&](auto const&... each) {
        ((found.empty() && std::is_same_v<typename std::remove_cvref_t<decltype(each)>::type, Device>
              ? void(found = each.name)
              : void()),
         ...);
      },
      built_devices<First>);
  return found;
}

namespace detail {
template <std::size_t K, class All, class F>
auto call_with(std::string const& name, All const& all, F const& f) {
  if constexpr (K + 1 < std::tuple_size_v<All>)
    if (name != std::get<K>(all).name) return call_with<K + 1>(name, all, f);
  return f(std::type_identity<typename std::tuple_element_t<K, All>::type>());
}
}  // namespace detail

/// Calls `f(std::type_identity<Device>())` with the device of this name, or with the first device if the name is empty.
///
/// errors  R76 the example was not built for the device
template <class First = meshtensor::default_device, class F>
auto on_device(std::string const& name, F const& f) {
  auto const names = built_names<First>();
  return detail::call_with<0>(name.empty() ? names[0] : require_built(name, names), built_devices<First>, f);
}

}  // namespace examples
