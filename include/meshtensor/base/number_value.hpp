// SPDX-License-Identifier: Apache-2.0
// The value of a number: a float of 64 bits, with the digits of an integer that such a float cannot hold.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "meshtensor/base/dtype.hpp"

namespace meshtensor {

/// The value of a number of a program. Integers of 64 bits are exact, signed or not, because f64 holds those up to
/// 2^53, and `rest` holds the part of the greater ones that f64 leaves out.
struct number_value {
  __extension__ using wide = __int128;

  double real;        // the nearest f64
  std::int64_t rest;  // the number minus `real`, 0 unless it is an integer beyond 2^53

  constexpr number_value() = default;
  template <std::floating_point F>
  constexpr number_value(F x) : real(static_cast<double>(x)), rest(0) {}  // NOLINT: a literal is a number
  template <std::integral N>
  constexpr number_value(N n) : number_value(of_integer(n)) {}  // NOLINT: a literal is a number

  /// An integer below 2^64 in size is exact, and a greater one is rounded to f64.
  static constexpr number_value of_integer(wide n) {
    number_value v(static_cast<double>(n));
    if (n > -most && n < most) v.rest = static_cast<std::int64_t>(n - static_cast<wide>(v.real));
    return v;
  }

  /// Whether it is an integer below 2^64 in size, which `integer` gives.
  constexpr bool is_integer() const {
    if (rest != 0) return true;
    return real > -0x1p64 && real < 0x1p64 && static_cast<double>(static_cast<wide>(real)) == real;
  }
  constexpr wide integer() const { return static_cast<wide>(real) + rest; }

  /// Compares numbers, so nan is equal to no number, and -0 is equal to 0.
  friend constexpr bool operator==(number_value const&, number_value const&) = default;
  /// Compares bits, so nan is the same as nan, and -0 is not the same as 0.
  constexpr bool is_same(number_value const& other) const {
    return std::bit_cast<std::uint64_t>(real) == std::bit_cast<std::uint64_t>(other.real) && rest == other.rest;
  }

 private:
  static constexpr wide most = static_cast<wide>(1) << 64;
};

/// Whether a number, rounded down, is an element of a dtype. Floats take all numbers, and so do bools.
constexpr bool fits(number_value const& n, dtype type) {
  if (is_float(type) || type == dtype::boolean) return true;
  return with_element(type, [&]<class E>() {
    if constexpr (std::is_integral_v<E>) {
      using limits = std::numeric_limits<E>;
      constexpr auto end = static_cast<double>(limits::max() / 2 + 1) * 2;  // one more than the greatest
      if (n.rest != 0) return n.integer() >= limits::lowest() && n.integer() <= limits::max();
      return n.real >= static_cast<double>(limits::lowest()) && n.real < end;
    }
    return true;
  });
}

}  // namespace meshtensor
