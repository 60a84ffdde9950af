// SPDX-License-Identifier: Apache-2.0
// Functions of numbers, and numbers as elements of a tensor. Both are exact if all numbers are integers.
#pragma once

#include <bit>
#include <cstdint>

#include "meshtensor/base/number_value.hpp"
#include "meshtensor/op/detail/scalar.hpp"

namespace meshtensor {
namespace detail {

/// Computes a to the power of b. Returns false if it does not fit 128 bits.
constexpr bool raise_exactly(number_value::wide a, number_value::wide b, number_value::wide& result) {
  for (result = 1; b != 0; b >>= 1) {
    if ((b & 1) != 0 && __builtin_mul_overflow(result, a, &result)) return false;
    if (b > 1 && __builtin_mul_overflow(a, a, &a)) return false;
  }
  return true;
}

/// Rounded down, as the elements of tensors of integers are.
constexpr number_value::wide whole_quotient(number_value::wide a, number_value::wide b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
/// The quotient of integers. From 2^52, where f64 has no fractions, it is rounded down. Below, rounding never reaches
/// the next integer, because `floor` and tensors of integers would take that one.
constexpr number_value quotient(number_value::wide a, number_value::wide b) {
  number_value const rounded_down(number_value::of_integer(whole_quotient(a, b)));
  if (a % b == 0 || rounded_down.real >= 0x1p52 || rounded_down.real < -0x1p52) return rounded_down;
  double const nearest = static_cast<double>(a / b) + static_cast<double>(a % b) / static_cast<double>(b);
  double const next = rounded_down.real + 1;
  return nearest < next ? nearest : std::bit_cast<double>(std::bit_cast<std::int64_t>(next) + (next < 0 ? 1 : -1));
}

}  // namespace detail

/// A function of numbers, computed in f64. Sums, differences, products, quotients, remainders and powers of integers
/// beyond 2^53 are exact, up to 2^64 in size.
constexpr number_value apply_to_numbers(function f, number_value const& a, number_value const& b) {
  number_value const rounded(apply<double>(f, a.real, b.real));
  auto const is_beyond = [](number_value const& n) { return n.real >= 0x1p53 || n.real <= -0x1p53; };
  if (!is_beyond(a) && !is_beyond(b) && !is_beyond(rounded)) return rounded;
  bool const is_less = a.real < b.real || (a.real == b.real && a.rest < b.rest);  // of two numbers that are not nan
  if (f == function::maximum || f == function::minimum)
    return rounded.real != rounded.real ? rounded : is_less == (f == function::maximum) ? b : a;
  if (!a.is_integer() || !b.is_integer()) return rounded;
  number_value::wide const x = a.integer(), y = b.integer();
  number_value::wide product{};
  switch (f) {
    case function::copy:
    case function::floor: return a;
    case function::negate: return number_value::of_integer(-x);
    case function::abs: return number_value::of_integer(x < 0 ? -x : x);
    case function::add: return number_value::of_integer(x + y);
    case function::subtract: return number_value::of_integer(x - y);
    case function::multiply:
      return __builtin_mul_overflow(x, y, &product) ? rounded : number_value::of_integer(product);
    case function::divide: return y == 0 ? rounded : detail::quotient(x, y);
    case function::modulo: return y == 0 ? rounded : number_value::of_integer(x - detail::whole_quotient(x, y) * y);
    case function::power:
      return y >= 0 && detail::raise_exactly(x, y, product) ? number_value::of_integer(product) : rounded;
    default: return rounded;
  }
}

/// A number as an element of type E. For integers it is the nearest one below.
template <class E>
constexpr E element_of(number_value const& n) {
  if constexpr (std::is_integral_v<E> && !std::is_same_v<E, bool>)
    if (n.rest != 0) return static_cast<E>(n.integer());
  return element_of<E>(n.real);
}

}  // namespace meshtensor
