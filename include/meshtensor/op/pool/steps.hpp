// SPDX-License-Identifier: Apache-2.0
// The steps of pools and of their gradients, and the attributes of their nodes.
#pragma once

#include <cstdint>

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// sum       the sum of each window
/// spread    the transposed sum: an input gets the sum of all outputs whose windows reach it
/// position  the position, as i32, of each window's greatest element, counted with the last window fastest
/// pick      the element of each window at its position in operand 1
/// unpool    the transposed pick: an input gets the sum of all outputs whose positions in operand 1 name it
enum class pool_step : std::uint8_t { sum, spread, position, pick, unpool };

struct pool_attributes {
  id first;   // the first window, a row of the table of windows
  int count;  // the number of windows

  static constexpr pool_attributes of(id const* slots) { return {slots[0], slots[1]}; }
  static constexpr pool_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{first, static_cast<id>(count)}}; }
};

struct pool_steps {
  /// The position for a window that holds nothing but padding.
  static constexpr std::int32_t nowhere = -1;

  static constexpr pool_step step_of(node const& n) { return static_cast<pool_step>(n.function); }
  static constexpr bool leads_back(pool_step s) { return s == pool_step::spread || s == pool_step::unpool; }
  static constexpr bool has_positions(pool_step s) { return s == pool_step::pick || s == pool_step::unpool; }

  static constexpr std::int64_t elements(module const& m, pool_attributes const& a) {
    std::int64_t all = 1;
    for (int k = a.first; k < a.first + a.count; ++k) all *= m.dims[m.windows[k].kernel].value;
    return all;
  }
};

}  // namespace meshtensor
