// SPDX-License-Identifier: Apache-2.0
// Sums of many terms whose error grows with the logarithm of their number, or not at all.
#pragma once

#include <cstdint>
#include <type_traits>

#include "meshtensor/base/dtype.hpp"

namespace meshtensor {

/// A long sum is a tree. So many terms are added one after the other, then as many such sums, and so on. With n terms
/// the rounding error is at most 3.2 · log2(n) · eps · Σ|x|, because each of the log32(n) levels rounds 31 times, by
/// eps / 2.
inline constexpr std::int64_t sum_fan_in = 32;

/// The levels of such a tree over `terms` terms, at least one.
constexpr int levels_of_sum(std::int64_t terms) {
  int levels = 1;
  for (; terms > sum_fan_in; terms = (terms + sum_fan_in - 1) / sum_fan_in) ++levels;
  return levels;
}

/// The most products that one accumulator of a matrix product adds up, because a library may add them one after the
/// other.
inline constexpr std::int64_t most_products = 4096;

/// A sum of elements of E that is rounded once, at the end. For this purpose, the terms of f32 and bf16 are added in
/// f64. The sum of f64 keeps the rounding error of each addition and adds it at the end. Integers are added in i64, and
/// wrap around.
template <class E>
class wide_sum {
 public:
  using term = std::conditional_t<std::is_integral_v<E>, std::int64_t, double>;

  constexpr void add(term x) {
    if constexpr (std::is_same_v<E, double>) {
      double const next = sum_ + x, added = next - sum_;
      error_ += (sum_ - (next - added)) + (x - added);
      sum_ = next;
    } else if constexpr (std::is_integral_v<E>) {  // wraps around
      sum_ = static_cast<term>(static_cast<std::uint64_t>(sum_) + static_cast<std::uint64_t>(x));
    } else {
      sum_ += x;
    }
  }
  /// The sum, rounded to E.
  constexpr E value() const {
    if constexpr (std::is_same_v<E, double>) {
      double const all = sum_ + error_;
      return all == all ? all : sum_;  // the error of an infinite sum is a nan
    } else if constexpr (std::is_same_v<E, bf16_t>) {
      return bf16_t(static_cast<float>(sum_));
    } else {
      return static_cast<E>(sum_);
    }
  }

 private:
  struct nothing {};
  term sum_ = 0;
  [[no_unique_address]] std::conditional_t<std::is_same_v<E, double>, double, nothing> error_{};
};

}  // namespace meshtensor
