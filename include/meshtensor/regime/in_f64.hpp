// SPDX-License-Identifier: Apache-2.0
// Arithmetic of replicas in f64, of which each result is rounded once. In bf16, three shares of 1/3 sum to 1.002, so
// values that are mixed in the dtype of the parameters would grow in every round.
#pragma once

#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/elementwise/cast.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor::detail {

constexpr any_tensor<dtype::f64> in_f64(builder& b, value_id x) { return {&b, cast(b, x, dtype::f64)}; }
template <handle X>
constexpr any_tensor<dtype::f64> in_f64(X const& x) {
  return in_f64(*x.owner, x.id);
}

/// A value that was computed in f64, in the dtype of `x`.
constexpr value_id rounded_like(builder& b, value_id x, value_id computed) {
  return cast(b, computed, b.m.values[x].type);
}
/// x · factor and x / divisor, computed in f64 and rounded to the dtype of `x`.
constexpr value_id scaled(builder& b, value_id x, value_id factor) {
  return rounded_like(b, x, multiply(b, in_f64(b, x).id, in_f64(b, factor).id));
}
constexpr value_id divided(builder& b, value_id x, value_id divisor) {
  return rounded_like(b, x, divide(b, in_f64(b, x).id, in_f64(b, divisor).id));
}
template <handle X, handle Factor>
constexpr X scaled(X const& x, Factor const& factor) {
  return {x.owner, scaled(*x.owner, x.id, factor.id)};
}
template <handle X, handle Divisor>
constexpr X divided(X const& x, Divisor const& divisor) {
  return {x.owner, divided(*x.owner, x.id, divisor.id)};
}

/// The mean along some dims. In bf16 no number of replicas beyond 256 is exact, so it is divided in f32.
constexpr value_id mean_of_replicas(builder& b, value_id x, shape const& along) {
  bool small = b.m.values[x].type != dtype::bf16;
  if (along.count == 1) {
    dim_row const& d = b.m.dims[along.at[0]];
    small = small || (d.kind == dim_row::fixed && d.value <= 256);
  }
  if (small) return mean(b, x, along);
  value_id const sum = cast(b, reduce(b, reduction::sum, x, along), dtype::f32);
  value_id const count = constant(b, number::of_row(&b, extent_product(b, along)), dtype::f32);
  return rounded_like(b, x, divide(b, sum, count));
}

}  // namespace meshtensor::detail
