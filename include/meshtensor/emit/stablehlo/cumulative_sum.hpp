// SPDX-License-Identifier: Apache-2.0
// Emits cumulative_sum.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/cumulative_sum.hpp"

namespace meshtensor::hlo {

/// Emits a reduce_window, in which the window of an element reaches from the first element to it, or from it to the
/// last. If the sum is exclusive, a pad shifts the sums by one.
inline value cumulative_sum(emission& e, node const& n) {
  cumulative_sum_attributes const a = cumulative_sum_attributes::of(n);
  cumulative const which = a.which;
  type const t = e.result_type(n);
  auto const along = static_cast<std::size_t>(e.result_dims(n).find(a.dim));
  std::int64_t const count = t.shape[along];
  bool const wider = t.element == "bf16";  // bf16 is summed in f32
  value const x = wider ? convert(e.w, e.operand(n), "f32") : e.operand(n);
  extents window(t.shape.size(), 1);
  window[along] = count;
  std::vector<extents> padding(t.shape.size(), {0, 0});
  padding[along][which.reverse ? 1 : 0] = count - 1;
  value sums = e.w.op("reduce_window", {x, constant(e.w, {x.type.element, {}}, 0.0)}, x.type,
                      "window_dimensions = " + array_text(window) + ", padding = " + rows_text(padding),
                      combining(reduction::sum, x.type.element));
  if (which.exclusive) {
    extents low(t.shape.size()), high = low;
    low[along] = which.reverse ? -1 : 1, high[along] = -low[along];
    sums = pad(e.w, sums, low, high);
  }
  return convert(e.w, sums, t.element);
}

}  // namespace meshtensor::hlo
