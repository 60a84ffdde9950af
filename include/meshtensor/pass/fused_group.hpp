// SPDX-License-Identifier: Apache-2.0
// Nodes that share a kernel: the space of dims that it walks, and what it holds so far.
#pragma once

#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {

inline constexpr int max_kernel_steps = 32, max_kernel_operands = 16, max_kernel_results = 8, max_kernel_numbers = 16,
                     max_kernel_phases = 7;

namespace detail {

struct fused_group {
  id place;  // it stands where this node stood
  id region;
  shape space;
  std::uint8_t sharded[max_axes], order[max_axes];  // the dim that an axis shards, plus 1
  std::uint8_t steps, operands, results, numbers;
  std::uint8_t along;    // reductions along the vector
  std::uint8_t leaving;  // what the other reductions reduce, as a mask of places in `space`; their results leave
  bool mixed;            // they reduce different dims
  std::uint8_t common;   // what all other results span, as a mask
  id merged;             // into another group, plus 1

  constexpr unsigned all() const { return (1u << space.count) - 1; }
  constexpr unsigned rows() const { return all() >> 1; }
};

}  // namespace detail
}  // namespace meshtensor
