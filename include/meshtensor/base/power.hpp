// SPDX-License-Identifier: Apache-2.0
// pow: x to the power y, through a logarithm of twice the precision.
#pragma once

#include <cmath>
#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/exponential.hpp"

namespace meshtensor::math {

namespace detail {

/// a b + c with one rounding, if c is nearly -a b: std::fma, which not all compilers evaluate. Source: Dekker 1971, A
/// floating-point technique for extending the available precision, section 5.
constexpr double add_product(double a, double b, double c) {
  if (!std::is_constant_evaluated()) return std::fma(a, b, c);
  auto const upper = [](double x) {
    double const moved = x * 0x1.0000002p27;
    return moved - (moved - x);
  };
  double const product = a * b, a_high = upper(a), b_high = upper(b), a_low = a - a_high, b_low = b - b_high;
  double const rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  return (c + product) + rest;
}

/// |x|^y for 0 < a < inf and y finite. log(a) is a sum of two terms, so that y does not amplify its rounding error.
template <class = lazy>
constexpr double power_of_positive(double a, double y) {
  using c = constants<double>;
  bool const tiny = a < ieee<double>::smallest_normal;
  std::uint64_t const moved = to_bits(tiny ? a * 0x1p52 : a) + (std::uint64_t{0x3ff0000000000000} - c::sqrt_half);
  double const exponent = static_cast<double>(moved >> 52) - (tiny ? 1075.0 : 1023.0);
  double const f = from_bits<double>((moved & ((std::uint64_t{1} << 52) - 1)) + c::sqrt_half) - 1;
  double const d = 2 + f, d_low = f - (d - 2);
  double const s = f / d, s_low = (add_product(-s, d, f) - s * d_low) / d;
  double const z = s * s;
  double const power = exponent * c::ln2_high;  // exact
  double const sum = power + 2 * s, back = sum - power;
  double const sum_low = (power - (sum - back)) + (2 * s - back);
  double const low = sum_low + (2 * s_low + (s * z * polynomial<c::log>(z) + exponent * c::ln2_low));
  double const log = sum + low, log_low = low - (log - sum);
  double const product = y * log;
  if (!(abs(product) < 750)) return exp(product);
  return joined(split_exp(product, add_product(y, log, -product) + y * log_low));
}

template <class = lazy>
constexpr double power_of_double(double x, double y) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  double const a = abs(x), b = abs(y);
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  double const size = a == 1 ? 1.0 : a == 0 || a == inf || b == inf ? exp(y * log(a)) : power_of_positive(a, y);
  if ((to_bits(x) >> 63) == 0) return size;
  double const whole = b < 0x1p52 ? (b + 0x1p52) - 0x1p52 : b;
  if (whole != b && a != 0 && a != inf) return std::numeric_limits<double>::quiet_NaN();
  bool const odd = whole == b && b < 0x1p53 && (to_bits(b < 0x1p52 ? b + 0x1p52 : b) & 1u) != 0;
  return odd ? -size : size;
}

}  // namespace detail

/// x to the power y, with the special cases of IEEE 754. The error is at most 1 ulp in float, which is computed in
/// double. In double it is at most 3 ulp, and at most 12 where |y·log(x)| > 100. Lanes are computed one by one.
template <class V>
constexpr V pow(V x, V y) {
  return lane<V>::each_as_double([](double a, double b) { return detail::power_of_double(a, b); }, x, y);
}

}  // namespace meshtensor::math
