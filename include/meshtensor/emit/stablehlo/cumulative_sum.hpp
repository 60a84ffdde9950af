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
  std::string padding;
  for (std::size_t i = 0; i < t.shape.size(); ++i) {
    std::int64_t const all = i == along ? count - 1 : 0;
    padding += (padding.empty() ? "[" : ", [") + list_text(which.reverse ? extents{0, all} : extents{all, 0}) + "]";
  }
  value sums = e.w.op("reduce_window", {x, constant(e.w, {x.type.element, {}}, 0.0)}, x.type,
                      "window_dimensions = " + array_text(window) + ", padding = dense<[" + padding + "]> : tensor<" +
                          std::to_string(t.shape.size()) + "x2xi64>",
                      combining(reduction::sum, x.type.element));
  if (which.exclusive) {
    extents low(t.shape.size()), high = low;
    low[along] = which.reverse ? -1 : 1, high[along] = -low[along];
    sums = e.w.op("pad", {sums, constant(e.w, {x.type.element, {}}, 0.0)}, x.type,
                  "edge_padding_low = " + array_text(low) + ", edge_padding_high = " + array_text(high) +
                      ", interior_padding = " + array_text(extents(low.size())));
  }
  return convert(e.w, sums, t.element);
}

}  // namespace meshtensor::hlo
