// SPDX-License-Identifier: Apache-2.0
// The peak rates of a device, with which costs become times.
#pragma once

namespace meshtensor {

/// A device's peak rates per second: floating-point operations of a large f32 matmul, and bytes read from and written
/// to memory beyond the caches. A rate of 0 is not known.
struct rates {
  double flops = 0, bytes = 0;
  double cache = 0;  // bytes of the largest cache
};

}  // namespace meshtensor
