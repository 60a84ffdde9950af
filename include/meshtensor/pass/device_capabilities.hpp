// SPDX-License-Identifier: Apache-2.0
// The capabilities of a device that passes need to know: whether it runs fused kernels, which composites it runs whole,
// and which operations it runs with epilogues.
#pragma once

#include <type_traits>

#include "meshtensor/graph/declaration.hpp"
#include "meshtensor/pass/inline_composites.hpp"

namespace meshtensor {

/// A device that has capabilities declares `static constexpr device_capabilities capabilities`.
struct device_capabilities {
  bool fuses = false;                       // whether elementwise nodes become kernels and composites are inlined
  composite_claim claims = claims_nothing;  // the composites that it runs whole, so they are not inlined
  epilogues joins = epilogues::none;        // the operations that it runs together with their epilogues
};

template <class Device>
inline constexpr device_capabilities capabilities_of = {};
template <class Device>
requires(Device::capabilities.fuses)
inline constexpr device_capabilities capabilities_of<Device> = Device::capabilities;

/// The device, or void for every device without capabilities, because all of these share the code that is compiled for
/// void.
template <class Device>
using capable_device = std::conditional_t<capabilities_of<Device>.fuses, Device, void>;

}  // namespace meshtensor
