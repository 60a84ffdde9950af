// SPDX-License-Identifier: Apache-2.0
// Finds the variance that a norm computes beside a mean, which is the mean of squares less the square of the mean.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// The mean and the variance, in f64, of the first operand x of a difference `x - centre`. This x is a widened bf16.
class moments_of_bf16 {
 public:
  moments_of_bf16(emission const& e, node const& difference)
      : e_(e), in_(difference.region), x_(cast_from(e.m.operand(difference, 0))) {}

  /// The variance, in f64, of the x whose narrowed mean is `centre`, or no_id if this region has none.
  value_id variance_about(value_id centre) const {
    value_id const mean = cast_from(centre);
    if (x_ == id{no_id} || mean == id{no_id} || !is_mean(mean, false)) return value_id{no_id};
    for (int i = 0; i < e_.m.node_count; ++i) {
      node const& n = e_.m.nodes[i];
      if (n.region == in_ && applies(n, function::subtract) && is_square(e_.m.operand(n, 1), mean) &&
          is_mean(e_.m.operand(n, 0), true))
        return e_.m.result(n);
    }
    return value_id{no_id};
  }

 private:
  node const& maker(value_id v) const { return e_.m.nodes[e_.m.values[v].node]; }
  value_id cast_from(value_id v) const {
    node const& n = maker(v);
    return applies(n, function::cast) ? e_.m.operand(n, 0) : value_id{no_id};
  }
  bool is_square(value_id v, value_id of) const {
    node const& n = maker(v);
    return applies(n, function::multiply) && e_.m.operand(n, 0) == of && e_.m.operand(n, 1) == of;
  }
  bool is_wide_x(value_id v) const { return e_.m.values[v].type == dtype::f64 && cast_from(v) == x_; }
  /// Whether a value is the mean of x, or of its squares, over all parts.
  bool is_mean(value_id v, bool of_squares) const {
    for (std::optional<number_value> count;; v = e_.m.operand(maker(v), 0)) {
      node const& n = maker(v);
      if (n.kind == primitive::wait || n.kind == primitive::all_reduce) continue;
      if (applies(n, function::divide) && !count) {
        node const& by = maker(e_.m.operand(n, 1));
        if (by.kind == primitive::constant) count = e_.known(constant_attributes::of(by).number);
        if (count) continue;
      }
      if (n.kind != primitive::reduce || n.function != static_cast<std::uint8_t>(reduction::sum)) return false;
      value_id const terms = e_.m.operand(n, 0);
      node const& product = maker(terms);
      bool const is_of_x = !of_squares ? is_wide_x(terms)
                                       : product.operands.count == 2 && is_wide_x(e_.m.operand(product, 0)) &&
                                             is_square(terms, e_.m.operand(product, 0));
      return is_of_x && count == elements_of(n);
    }
  }
  double elements_of(node const& sum) const {
    double count = 1;
    for (int i = 0; i < e_.dims(sum).count; ++i)
      if (int const d = e_.dims(sum).at[i]; !e_.result_dims(sum).has(d)) count *= static_cast<double>(e_.b.extent[d]);
    return count;
  }

  emission const& e_;
  region_id in_;
  value_id x_;
};

}  // namespace meshtensor::hlo
