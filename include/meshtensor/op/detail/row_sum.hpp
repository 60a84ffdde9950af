// SPDX-License-Identifier: Apache-2.0
// Keeps sums of exponentials finite if some or all elements of a row are -inf.
#pragma once

#include "meshtensor/op/elementwise.hpp"

namespace meshtensor::detail {

template <handle H>
inline constexpr double least_finite_like = least_finite<element_t<H::type>>;

/// The maximum of a row, but at least the least finite number. Therefore x - kept_finite(maximum) is -inf, not nan, if
/// all of x is -inf.
template <handle H>
constexpr H kept_finite(H const& greatest) {
  return maximum(greatest, least_finite_like<H>);
}

/// Σ e^(x - maximum) as the divisor of its terms. The sum is at least e^0 = 1, or 0 if all of a row is -inf. In the
/// second case every term is 0, so every quotient is 0, too.
template <handle H>
constexpr H as_divisor(H const& sum) {
  return maximum(sum, 1);
}

}  // namespace meshtensor::detail
