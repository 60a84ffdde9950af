// SPDX-License-Identifier: Apache-2.0
// Finds how a stream is laid out in memory: whether it serves as a block in place, and whether all its rows are one.
#pragma once

#include <cstdint>

#include "meshtensor/device/cpu/fused.hpp"
#include "meshtensor/device/cpu/fused/block_program.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Whether a block can be used in place. It needs the same type in memory as in registers, and contiguous rows.
inline bool is_direct(fused_kernel const& k, int stream, dtype t, extent_class c) {
  if (c != extent_class::vector || static_cast<std::int64_t>(bytes_of(t)) != register_bytes(t) || k.across[stream] != 1)
    return false;
  return k.loops == 0 || k.width >= block_program::most_elements || k.stride[stream][k.loops - 1] == k.width;
}

/// Whether all rows of an operand are one row that a block can hold.
inline bool is_one_row(fused_kernel const& k, int stream, extent_class c) {
  bool one = c == extent_class::vector && k.loops > 0 && k.segment_loop < 0 && k.width > 0 &&
             k.width <= block_program::most_elements;
  for (int i = 0; i < k.loops; ++i) one = one && k.stride[stream][i] == 0;
  return one;
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
