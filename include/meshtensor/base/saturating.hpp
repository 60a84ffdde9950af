// SPDX-License-Identifier: Apache-2.0
// Counts and casts that stay at the greatest or least integer of their type if they would overflow.
#pragma once

#include <cstdint>
#include <limits>

namespace meshtensor {

inline constexpr std::int64_t greatest_count = std::numeric_limits<std::int64_t>::max();

/// The sum and the product of counts that are not negative, at most `greatest_count`.
constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  return a > greatest_count - b ? greatest_count : a + b;
}
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  return a != 0 && b > greatest_count / a ? greatest_count : a * b;
}
/// A count that was computed in f64, at most `greatest_count`.
constexpr std::int64_t saturated_count(double x) { return x < 0x1p63 ? static_cast<std::int64_t>(x) : greatest_count; }

/// A float rounded towards zero, as the nearest integer that To holds. NaN gives 0.
template <class To, class From>
constexpr To saturated_integer(From x) {
  using limits = std::numeric_limits<To>;
  // The greatest integer may round up to one that To does not hold, which gives the greatest one, too.
  return x != x                                  ? To{0}
         : x >= static_cast<From>(limits::max()) ? limits::max()
         : x <= static_cast<From>(limits::min()) ? limits::min()
                                                 : static_cast<To>(x);
}

}  // namespace meshtensor
