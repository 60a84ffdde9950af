// SPDX-License-Identifier: Apache-2.0
// The builder functions of slice and pad, each of which is the gradient of the other, and the row of their step.
#pragma once

#include "meshtensor/op/detail/record.hpp"

namespace meshtensor {

/// A `step` of no_id means 1.
constexpr value_id slice(builder& b, value_id x, dim_id from, dim_id to, number_id first, number_id step = no_id);
constexpr value_id pad(builder& b, value_id x, dim_id from, dim_id to, number_id first, number_id around,
                       number_id step = no_id);

namespace detail {
/// The row of a step, or no_id if the step is 1.
constexpr number_id step_row(builder& b, number const& step) {
  bool const is_one = step.count == 1 && step.items[0].kind == number::item::literal && step.items[0].value == 1;
  return is_one ? number_id{no_id} : add_number_of_call(b, step);
}
}  // namespace detail

}  // namespace meshtensor
