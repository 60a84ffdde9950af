// SPDX-License-Identifier: Apache-2.0
// Emits pools: sums as a reduce_window, and steps by positions as one selection for each element of a window.
#pragma once

#include "meshtensor/emit/stablehlo/greatest_positions.hpp"
#include "meshtensor/emit/stablehlo/picked_elements.hpp"

namespace meshtensor::hlo {

class pooled_sums : pool_windows {
 public:
  using pool_windows::pool_windows;

  value written() {
    value const x = widened(e_.w, reached(0));  // because it is summed in f32
    return convert(e_.w, reduced(reduction::sum, x), to_.element);
  }
};

inline value pool(emission& e, node const& n) {
  switch (pool_rule::step_of(n)) {
    case pool_step::sum:
    case pool_step::spread: return pooled_sums(e, n).written();
    case pool_step::position: return greatest_positions(e, n).written();
    case pool_step::pick: return picked_elements(e, n).picked();
    case pool_step::unpool: return picked_elements(e, n).unpooled();
  }
  return e.operand(n);
}

}  // namespace meshtensor::hlo
