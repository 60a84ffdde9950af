// SPDX-License-Identifier: Apache-2.0
// Capabilities of a device that the passes ask for: whether it runs fused kernels, and which composites whole.
#pragma once

#include <type_traits>

#include "meshtensor/pass/inline_composites.hpp"

namespace meshtensor {

/// A device that wants something has `static constexpr device_capabilities capabilities`.
struct device_capabilities {
  bool fuses = false;                       // what is elementwise in kernels, composites replaced by their bodies
  composite_claim claims = claims_nothing;  // but for those that it runs itself
};

template <class Device>
inline constexpr device_capabilities capabilities_of = {};
template <class Device>
requires(Device::capabilities.fuses)
inline constexpr device_capabilities capabilities_of<Device> = Device::capabilities;

/// The device, or void for all that want nothing: what is compiled for them is the same.
template <class Device>
using capable_device = std::conditional_t<capabilities_of<Device>.fuses, Device, void>;

}  // namespace meshtensor
