// SPDX-License-Identifier: Apache-2.0
// Keeps sums of exponentials finite where some of a row's elements, or all of them, are -inf.
#pragma once

#include "meshtensor/op/elementwise.hpp"

namespace meshtensor::detail {

template <handle H>
inline constexpr double least_finite_like = least_finite<element_t<H::type>>;

/// The greatest element of a row, but no -inf: x - kept_finite(greatest) is -inf, not nan, where all of x is -inf.
template <handle H>
constexpr H kept_finite(H const& greatest) {
  return maximum(greatest, least_finite_like<H>);
}

/// Σ e^(x - greatest) as what the terms are divided by. It is at least e^0 = 1, or 0 where all of a row is -inf: there
/// every term is 0, and so is what it is divided to.
template <handle H>
constexpr H as_divisor(H const& sum) {
  return maximum(sum, 1);
}

}  // namespace meshtensor::detail
