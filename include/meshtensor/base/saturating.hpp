// SPDX-License-Identifier: Apache-2.0
// Counts that stay at the greatest integer if they would overflow, as the costs of nested loops do.
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

}  // namespace meshtensor
