// SPDX-License-Identifier: Apache-2.0
// Capabilities of a device that the passes ask for: whether it runs fused kernels, which composites it runs whole, and
// what it runs with epilogues.
#pragma once

#include <type_traits>

#include "meshtensor/graph/declaration.hpp"
#include "meshtensor/pass/inline_composites.hpp"

namespace meshtensor {

/// A device with capabilities declares `static constexpr device_capabilities capabilities`.
struct device_capabilities {
  bool fuses = false;                       // elementwise nodes become kernels; composites are inlined …
  composite_claim claims = claims_nothing;  // … but for those that the device claims and runs whole
  epilogues joins = epilogues::none;        // it runs these with their epilogues
};

template <class Device>
inline constexpr device_capabilities capabilities_of = {};
template <class Device>
requires(Device::capabilities.fuses)
inline constexpr device_capabilities capabilities_of<Device> = Device::capabilities;

/// The device, or void for every device without capabilities: they all share what is compiled for void.
template <class Device>
using capable_device = std::conditional_t<capabilities_of<Device>.fuses, Device, void>;

}  // namespace meshtensor
