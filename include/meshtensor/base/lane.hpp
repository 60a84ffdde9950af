// SPDX-License-Identifier: Apache-2.0
// The interface of a number type for math.hpp, so that one source serves float, double and SIMD registers of them, with
// the same bits in every lane.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace meshtensor::math {

/// Whether this build has fused multiply-add. It depends on the build only, never on an element's position, so that
/// scalars and registers behave alike. The compiler must not contract on its own (`-ffp-contract=off`).
#if defined(__FMA__) || defined(__aarch64__)
inline constexpr bool fused = true;
#else
inline constexpr bool fused = false;
#endif

/// The format of an IEEE number. Adding `round_magic` to |x| < 2^(mantissa_bits - 2) leaves the nearest integer in the
/// low bits. `integer_magic` has ulp 1, so that or-ing an integer into its bits converts it exactly.
template <class S>
struct ieee;

template <>
struct ieee<float> {
  using bits = std::uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr float bias = 127.0f;
  static constexpr float round_magic = 0x1.8p23f;
  static constexpr float integer_magic = 0x1p23f;
  static constexpr float smallest_normal = 0x1p-126f;
};

template <>
struct ieee<double> {
  using bits = std::uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr double bias = 1023.0;
  static constexpr double round_magic = 0x1.8p52;
  static constexpr double integer_magic = 0x1p52;
  static constexpr double smallest_normal = 0x1p-1022;
};

/// The primitive operations of a vector-like type V. Those for scalars are here, those for registers in
/// device/cpu/math.hpp.
///
/// Besides these, V has + - * / and the comparisons, which are false if an operand is nan. Their results have ! && ||.
/// V(scalar) broadcasts. `bits` has + - & | ^, and << >> by a constant.
template <class V>
struct lane;

namespace detail {
template <class S>
struct scalar_lane {
  using scalar = S;
  using bits = typename ieee<S>::bits;
  static constexpr S fma(S a, S b, S c) {
    if constexpr (fused) {
      return std::fma(a, b, c);
    } else {
      return a * b + c;
    }
  }
  static constexpr S select(bool condition, S a, S b) { return condition ? a : b; }
  static constexpr S greater(S a, S b) { return a > b ? a : b; }
  static constexpr S lesser(S a, S b) { return a < b ? a : b; }
  static constexpr S sqrt(S x) { return std::sqrt(x); }
  static constexpr bits to_bits(S x) { return std::bit_cast<bits>(x); }
  static constexpr S from_bits(bits b) { return std::bit_cast<S>(b); }
  static constexpr bool any(bool condition) { return condition; }
  template <class F>
  static constexpr S each(F f, S x) {
    return f(x);
  }
  template <class F>
  static constexpr S each_as_double(F f, S x, S y) {
    return static_cast<S>(f(double{x}, double{y}));
  }
};
}  // namespace detail

template <>
struct lane<float> : detail::scalar_lane<float> {};
template <>
struct lane<double> : detail::scalar_lane<double> {};

template <class V>
using scalar_of = typename lane<V>::scalar;
template <class V>
using bits_of = typename lane<V>::bits;
template <class V>
using format_of = ieee<scalar_of<V>>;

/// a·b + c, with one rounding if the build has fused multiply-add.
template <class V>
constexpr V fma(V a, V b, V c) {
  return lane<V>::fma(a, b, c);
}
template <class V, class Mask>
constexpr V select(Mask condition, V a, V b) {
  return lane<V>::select(condition, a, b);
}
/// a > b ? a : b, hence b if either is nan.
template <class V>
constexpr V greater(V a, V b) {
  return lane<V>::greater(a, b);
}
/// a < b ? a : b, hence b if either is nan.
template <class V>
constexpr V lesser(V a, V b) {
  return lane<V>::lesser(a, b);
}
template <class V>
constexpr bits_of<V> to_bits(V x) {
  return lane<V>::to_bits(x);
}
template <class V>
constexpr V from_bits(bits_of<V> b) {
  return lane<V>::from_bits(b);
}

/// The bits of a constant, in every lane.
template <class V>
constexpr bits_of<V> bits_of_constant(scalar_of<V> x) {
  return bits_of<V>(std::bit_cast<typename format_of<V>::bits>(x));
}
template <class V>
constexpr bits_of<V> sign_bit() {
  return bits_of_constant<V>(scalar_of<V>(-0.0));
}

template <class V>
constexpr V abs(V x) {
  return from_bits<V>(to_bits(x) & bits_of<V>(~sign_bit<scalar_of<V>>()));
}
template <class V>
constexpr V negate(V x) {
  return from_bits<V>(to_bits(x) ^ sign_bit<V>());
}
/// x with the sign of y. x may be negative only if y is.
template <class V>
constexpr V with_sign(V x, V y) {
  return from_bits<V>(to_bits(x) | (to_bits(y) & sign_bit<V>()));
}

/// Converts the non-negative integer in each lane, exactly below 2^mantissa_bits.
template <class V>
constexpr V number_of(bits_of<V> integer) {
  auto const magic = format_of<V>::integer_magic;
  return from_bits<V>(integer | bits_of_constant<V>(magic)) - V(magic);
}

/// 2^n, where `shifted` = n + round_magic and 2^n is a normal number.
template <class V>
constexpr V power_of_two(V shifted) {
  return from_bits<V>((to_bits(shifted) << format_of<V>::mantissa_bits) + bits_of_constant<V>(1));
}

/// The sum over i of Coefficients[i]·x^i. The array is a template argument, so that each coefficient is a constant,
/// because device code cannot read static arrays of the host.
template <auto const& Coefficients, std::size_t First = 0, class V>
constexpr V polynomial(V x) {
  constexpr auto first = Coefficients[First];
  if constexpr (First + 1 == std::size(Coefficients)) return V(first);
  else return fma(polynomial<Coefficients, First + 1>(x), x, V(first));
}

}  // namespace meshtensor::math
