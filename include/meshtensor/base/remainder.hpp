// SPDX-License-Identifier: Apache-2.0
// The exact remainder of a division of floats.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "meshtensor/base/lane.hpp"

namespace meshtensor::math {
namespace detail {

/// A finite double without its sign, as an integer times 2^(exponent - 1075).
struct significand {
  std::uint64_t bits;
  int exponent;

  static constexpr significand of(double x) {
    auto const word = std::bit_cast<std::uint64_t>(x);
    auto const exponent = static_cast<int>(word >> 52 & 0x7ff);
    std::uint64_t const fraction = word & ((std::uint64_t{1} << 52) - 1);
    return exponent == 0 ? significand{fraction, 1} : significand{fraction | std::uint64_t{1} << 52, exponent};
  }
  constexpr double value() const {
    if (bits == 0) return 0;
    int const shift = std::min(std::countl_zero(bits) - 11, exponent - 1);
    std::uint64_t const fraction = bits << shift, leading = std::uint64_t{1} << 52;
    if (fraction < leading) return std::bit_cast<double>(fraction);  // subnormal
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent - shift) << 52 | (fraction & (leading - 1)));
  }
};

/// C's fmod: x - n·y with the sign of x, where n is x/y without its fraction. It divides eleven bits of the quotient at
/// a time, so that nothing is rounded, however large the quotient is.
constexpr double fmod(double x, double y) {
  constexpr double greatest = std::numeric_limits<double>::max();
  double const size = math::abs(x), by = math::abs(y);
  if (!(size <= greatest) || !(by > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (size < by) return x;  // for an infinite divisor, too
  significand const divisor = significand::of(by);
  significand rest = significand::of(size);
  rest.bits %= divisor.bits;
  while (rest.exponent > divisor.exponent && rest.bits != 0) {
    int const step = std::min(rest.exponent - divisor.exponent, 11);
    rest.bits = (rest.bits << step) % divisor.bits, rest.exponent -= step;
  }
  rest.exponent = divisor.exponent;
  return with_sign(rest.value(), x);
}

}  // namespace detail

/// The remainder of x/y with the sign of y: x - n·y for the greatest integer n that is not above x/y, rounded once. It
/// is nan if x is infinite or y is 0. If y is infinite, it is x if x has the sign of y, and otherwise y.
template <class V>
constexpr V modulo(V x, V y) {
  using s = scalar_of<V>;
  V const rest = lane<V>::each_as_double([](double a, double b) { return detail::fmod(a, b); }, x, y), zero(s(0));
  auto const is_other_sign = ((rest < zero) && (zero < y)) || ((zero < rest) && (y < zero));
  return select(is_other_sign, rest + y, rest);
}

}  // namespace meshtensor::math
