// SPDX-License-Identifier: Apache-2.0
// Dropout: zeros random elements in training.
#pragma once

#include "meshtensor/op/random.hpp"

namespace meshtensor::nn {

namespace detail {
struct dropout_body {
  static constexpr meshtensor::detail::literal usage{"T18 dropout takes a scope, x and a rate, not a scope and"};
  template <handle X, class Rate>
  static consteval auto finding() {
    if constexpr (of_float<X>) return no_error{};
    else return meshtensor::detail::refusal<"T04 this function takes tensors of floats: cast the operand", X>{};
  }
  constexpr auto operator()(scope auto s, handle auto x, number const& rate) const {
    using X = decltype(x);
    builder& b = s.graph_builder();
    b.expect(may_be_probability(rate), "T51 dropout: the rate, the share of elements that become zero, is from 0 to 1");
    using random_t = handle_t<dtype::f32, typename X::dim_list>;
    random_t const uniform_number(&b, random(b, distribution::uniform, dtype::f32, b.m.values[x.id].dims));
    // If nothing is kept, the divisor is 1, because a gradient of zero times 1 / 0 is NaN.
    number const kept = may_be(rate, 1) ? 1 - rate + apply(function::floor, rate) : 1 - rate;
    auto const scaled = x * (1 / kept);
    return select(uniform_number < 1 - rate, scaled, 0);
  }
};
}  // namespace detail

/// Zero with probability `rate`, and otherwise x / (1 − rate), so that the expectation is unchanged:
/// `dropout(s / "drop", x, rate)`. A rate of 0 gives `x`, and a rate of 1 gives zeros. The choice of dropped elements
/// does not depend on the layout or on the dtype.
///
/// dims    those of `x`
/// grad    the cotangent, with the same elements dropped and the same scale
/// errors  T51 the rate is a literal that is not from 0 to 1
/// source  Srivastava et al., JMLR 15 (2014)
inline constexpr library_layer dropout = detail::dropout_body{};

}  // namespace meshtensor::nn
