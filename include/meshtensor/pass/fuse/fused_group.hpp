// SPDX-License-Identifier: Apache-2.0
// Describes nodes that share a kernel: the space of dims that it iterates over, and the members' totals so far.
#pragma once

#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {

inline constexpr int max_kernel_steps = 32, max_kernel_operands = 16, max_kernel_results = 8, max_kernel_numbers = 16,
                     max_kernel_phases = 7;

namespace detail {

struct fused_group {
  node_id place;  // the kernel takes the place of this node
  region_id region;
  shape space;
  std::uint8_t sharded[max_axes], order[max_axes];  // the dim that an axis shards, plus 1, and the axis's order in it
  std::uint8_t steps, operands, results, numbers;
  std::uint8_t along;  // number of reductions along the vector
  // The mask of the dims in `space` that the other reductions reduce. Their results leave the kernel.
  std::uint16_t leaving;
  bool mixed;            // whether the other reductions reduce different dims
  std::uint16_t common;  // mask of the dims that all other results span
  id merged;             // the group that it was merged into, plus 1

  constexpr unsigned all() const { return (1u << space.count) - 1; }
  constexpr unsigned rows() const { return all() >> 1; }
};

}  // namespace detail
}  // namespace meshtensor
