// SPDX-License-Identifier: Apache-2.0
// Sine and cosine for every finite argument, with a short range reduction for usual arguments and an exact one for the
// others.
#pragma once

#include <cstddef>
#include <limits>

#include "meshtensor/base/lane.hpp"

namespace meshtensor::math {

namespace detail {

template <class S>
struct angle_constants;

template <>
struct angle_constants<float> {
  static constexpr float limit = 8192;  // of the short reduction, where the quotient times a part is exact
  static constexpr float two_over_pi = 0x1.45f306p-1f, half_pi = 0x1.921fb6p+0f;
  static constexpr float half_pi_parts[] = {0x1.92p+0f, 0x1.fb4p-12f, 0x1.444p-24f, 0x1.68c234p-39f};
  // In r² for |r| <= π/4: (sin(r) - r)/r³ with error 2^-28, and (cos(r) - 1 + r²/2)/r⁴ with error 2^-33.
  static constexpr float sine[] = {-0x1.555546p-3f, 0x1.11077ap-7f, -0x1.9954a4p-13f};
  static constexpr float cosine[] = {0x1.55554ap-5f, -0x1.6c0c1ap-10f, 0x1.99e0dap-16f};
};

template <>
struct angle_constants<double> {
  static constexpr double limit = 0x1p20;
  static constexpr double two_over_pi = 0x1.45f306dc9c883p-1, half_pi = 0x1.921fb54442d18p+0;
  static constexpr double half_pi_parts[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                             0x1.b839a252049c1p-104};
  // The same with errors 2^-58 and 2^-64.
  static constexpr double sine[] = {-0x1.5555555555549p-3, 0x1.111111110f892p-7,   -0x1.a01a019c121f9p-13,
                                    0x1.71de3576c45b2p-19, -0x1.ae5e64af99ffep-26, 0x1.5d92600a69280p-33};
  static constexpr double cosine[] = {0x1.555555555554cp-5,   -0x1.6c16c16c15210p-10, 0x1.a01a019cbcdbcp-16,
                                      -0x1.27e4f81047a8fp-22, 0x1.1ee9ef532f9b1p-29,  -0x1.8fb000ec6494ep-37};
};

/// sin(r + quadrant·π/2) for |r| <= π/4. Only the two low bits of `quadrant` count.
template <class V>
constexpr V sine_of_quadrant(V r, bits_of<V> quadrant) {
  using c = angle_constants<scalar_of<V>>;
  using word = typename format_of<V>::bits;
  V const z = r * r;
  V const sine = with_sign(fma(r * z, polynomial<c::sine>(z), r), r);  // restores the sign of r = -0
  V const cosine = fma(z * z, polynomial<c::cosine>(z), fma(z, V(scalar_of<V>(-0.5)), V(1)));
  auto const odd = bits_of<V>(word{0}) - (quadrant & bits_of<V>(word{1}));  // all ones, or none
  auto const chosen = (to_bits(sine) & ~odd) | (to_bits(cosine) & odd);
  auto const sign = ((quadrant >> 1) & bits_of<V>(word{1})) << (8 * static_cast<int>(sizeof(word)) - 1);
  return from_bits<V>(chosen ^ sign);
}

/// sin(x + quarter·π/2) for 2^12 < |x| < inf, and nan for inf. It computes x·2/π modulo 4 in integers of 192 bits.
///
/// Source: Payne and Hanek, Radian reduction for trigonometric functions, SIGNUM 18 (1983).
constexpr double sine_of_large(double x, unsigned quarter) {
  __extension__ using uint128 = unsigned __int128;
  // The bits of 2/π after the point, behind one word of zeros. The array is local, so that device code has it.
  constexpr std::uint64_t two_over_pi[] = {0x0,
                                           0xa2f9836e4e441529,
                                           0xfc2757d1f534ddc0,
                                           0xdb6295993c439041,
                                           0xfe5163abdebbc561,
                                           0xb7246e3a424dd2e0,
                                           0x06492eea09d1921c,
                                           0xfe1deb1cb129a73e,
                                           0xe88235f52ebb4484,
                                           0xe99c7026b45f7e41,
                                           0x3991d639835339f4,
                                           0x9c845f8bbdf9283b,
                                           0x1ff897ffde05980f,
                                           0xef2f118b5a0a6d1f,
                                           0x6d367ecf27cb09b7,
                                           0x4f463f669e5fea2d,
                                           0x7527bac7ebe5f17b,
                                           0x3d0739f78a5292ea,
                                           0x6bfb5fb11f8d5d08,
                                           0x56033046fc7b6bab};
  if (!(abs(x) <= std::numeric_limits<double>::max())) return x - x;
  std::uint64_t const bits = to_bits(x);
  std::uint64_t const mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
  int const exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1075;  // |x| = mantissa·2^exponent
  int const offset = exponent - 2 + 64;  // bits before it only add multiples of 4, and the 64 are the leading zeros
  std::uint64_t window[3];
  for (int i = 0; i < 3; ++i) {
    std::uint64_t const* word = two_over_pi + offset / 64 + i;
    int const shift = offset % 64;
    window[i] = shift == 0 ? word[0] : (word[0] << shift) | (word[1] >> (64 - shift));
  }
  uint128 const low = uint128{mantissa} * window[2];
  uint128 const middle = uint128{mantissa} * window[1] + static_cast<std::uint64_t>(low >> 64);
  std::uint64_t const high = mantissa * window[0] + static_cast<std::uint64_t>(middle >> 64);
  uint128 const product = (uint128{high} << 64) | static_cast<std::uint64_t>(middle);
  auto quadrant = static_cast<unsigned>(high >> 62);
  uint128 fraction = product << 2;
  bool const above_half = (fraction >> 127) != 0;
  if (above_half) fraction = -fraction, ++quadrant;  // to the nearest multiple of π/2
  double const turn = static_cast<double>(static_cast<std::uint64_t>(fraction >> 64)) * 0x1p-64 +
                      static_cast<double>(static_cast<std::uint64_t>(fraction)) * 0x1p-128;
  bool const negative = (bits >> 63) != 0;
  double const r = turn * angle_constants<double>::half_pi;
  unsigned const whole = (negative ? 0u - quadrant : quadrant) + quarter;
  return sine_of_quadrant<double>(above_half != negative ? -r : r, std::uint64_t{whole & 3u});
}

/// sin(x + quarter·π/2).
template <class V>
constexpr V sine_of(V x, unsigned quarter) {
  using c = angle_constants<scalar_of<V>>;
  using word = typename format_of<V>::bits;
  V const magic(format_of<V>::round_magic);
  V const shifted = fma(x, V(c::two_over_pi), magic);
  V const n = shifted - magic;
  V const near = fma(n, V(-c::half_pi_parts[1]), fma(n, V(-c::half_pi_parts[0]), x));
  V const third = n * V(c::half_pi_parts[2]);
  V const rounded = near - third;
  V const r = rounded - (n * V(c::half_pi_parts[3]) - ((near - rounded) - third));  // adds the last step's error back
  V const result = sine_of_quadrant(r, to_bits(shifted) + bits_of<V>(word{quarter}));
  auto const large = abs(x) > V(c::limit);
  if (!lane<V>::any(large)) return result;
  auto const one = [quarter](scalar_of<V> s) {
    return static_cast<scalar_of<V>>(sine_of_large(static_cast<double>(s), quarter));
  };
  return select(large, lane<V>::each(one, select(large, x, V(c::limit))), result);
}

}  // namespace detail

/// Sine and cosine, and nan at inf. For every finite argument, the error is at most 2 ulp in float and 3 in double.
/// Lanes beyond |x| = 8192 in float, or 2^20 in double, are reduced one by one.
template <class V>
constexpr V sin(V x) {
  return detail::sine_of(x, 0u);
}
template <class V>
constexpr V cos(V x) {
  return detail::sine_of(x, 1u);
}

}  // namespace meshtensor::math
