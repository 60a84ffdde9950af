// SPDX-License-Identifier: Apache-2.0
// The steps of one call in the open bodies of mt::steps.
#pragma once

#include "meshtensor/graph/builder.hpp"

namespace meshtensor::detail {

/// Whether all open regions are bodies of mt::steps. Then each of them runs as often as a call says before it.
constexpr bool is_in_steps_alone(builder const& b) {
  for (int level = 0; level < b.depth; ++level)
    if (!b.frames[level].is_steps) return false;
  return true;
}

/// The number of steps of a call: the product of the extents of the open mt::steps, as a row of the table of numbers.
/// It is no_id if none is open.
constexpr number_id steps_of_call(builder& b) {
  number_id all = no_id;
  for (int level = 0; level < b.depth; ++level) {
    if (!b.frames[level].is_steps) continue;
    number_id const here =
        b.add_number(number_row{number_row::extent, function::copy, b.frames[level].loop_dim, no_id, 0});
    all = all == no_id ? here : b.add_number(number_row{number_row::expression, function::multiply, all, here, 0});
  }
  return all;
}

}  // namespace meshtensor::detail
