// SPDX-License-Identifier: Apache-2.0
// Finds the variance that a norm computes beside a mean, which is the mean of squares less the square of the mean.
#pragma once

#include "meshtensor/emit/stablehlo/rewrite/rewriter.hpp"
#include "meshtensor/op/constant.hpp"
#include "meshtensor/pass/bind/known_number.hpp"

namespace meshtensor::hlo {

/// The value whose mean over all parts is `v`, or no_id.
inline value_id summed_by_mean(meshtensor::module const& m, binding const& b, value_id v) {
  for (std::optional<number_value> count;; v = m.operand(maker(m, v), 0)) {
    node const& n = maker(m, v);
    if (n.kind == primitive::wait || n.kind == primitive::all_reduce) continue;
    if (applies(n, function::divide) && !count) {
      node const& by = maker(m, m.operand(n, 1));
      if (by.kind == primitive::constant) count = known_number(m, b, constant_attributes::of(by).number);
      if (count) continue;
    }
    if (!is_sum(n)) return value_id{no_id};
    double terms = 1;
    shape const summed = without(m.operand_value(n, 0).dims, m.result_value(n).dims);
    for (int i = 0; i < summed.count; ++i) terms *= static_cast<double>(b.extent[summed.at[i]]);
    return count == terms ? m.operand(n, 0) : value_id{no_id};
  }
}

/// The variance, in f64, of the x of a difference `x - centre`, or no_id if this region has none. This x is a widened
/// bf16, and the centre is the mean of x, which was computed in f64.
inline value_id variance_of_bf16(meshtensor::module const& m, binding const& b, node const& difference) {
  value_id const x = cast_from(m, m.operand(difference, 0)), mean = cast_from(m, m.operand(difference, 1));
  auto const is_wide_x = [&](value_id v) { return m.values[v].type == dtype::f64 && cast_from(m, v) == x; };
  auto const is_square = [&](value_id v, value_id of) {
    node const& n = maker(m, v);
    return applies(n, function::multiply) && m.operand(n, 0) == of && m.operand(n, 1) == of;
  };
  if (x == id{no_id} || mean == id{no_id}) return value_id{no_id};
  value_id const terms = summed_by_mean(m, b, mean);
  if (terms == id{no_id} || !is_wide_x(terms)) return value_id{no_id};
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.region != difference.region || !applies(n, function::subtract) || !is_square(m.operand(n, 1), mean)) continue;
    value_id const squares = summed_by_mean(m, b, m.operand(n, 0));
    if (squares == id{no_id} || !applies(maker(m, squares), function::multiply)) continue;
    value_id const of = m.operand(maker(m, squares), 0);
    if (is_wide_x(of) && is_square(squares, of)) return m.result(n);
  }
  return value_id{no_id};
}

}  // namespace meshtensor::hlo
