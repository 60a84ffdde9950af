// SPDX-License-Identifier: Apache-2.0
// Defines `vec<T>`, a SIMD register of numbers. No other file uses xsimd, and without xsimd a register has one lane.
// This file uses only operations that mean the same on every instruction set, and builds the others from them.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/lane.hpp"

#if !(defined(MESHTENSOR_WITH_XSIMD) && MESHTENSOR_WITH_XSIMD == 0) && __has_include(<xsimd/xsimd.hpp>)
#  include <xsimd/xsimd.hpp>
#endif
#if defined(__SSE2__)
#  include <immintrin.h>
#endif

#if defined(__AVX512F__)
#  pragma GCC diagnostic push  // g++ 12 warns of the undefined registers inside its own intrinsics
#  pragma GCC diagnostic ignored "-Wpragmas"
#  pragma GCC diagnostic ignored "-Wunknown-warning-option"
#  pragma GCC diagnostic ignored "-Wuninitialized"
#  pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

#if defined(XSIMD_HPP) && !defined(XSIMD_NO_SUPPORTED_ARCHITECTURE)
template <class T>
using lanes = xsimd::batch<T>;
template <class T>
using lane_mask = xsimd::batch_bool<T>;
template <class T>
inline constexpr int width_of = static_cast<int>(xsimd::batch<T>::size);
namespace on_lanes = xsimd;
using instruction_set = xsimd::default_arch;
#else
template <class T>
using lanes = T;
template <class T>
using lane_mask = bool;
template <class T>
inline constexpr int width_of = 1;
using instruction_set = void;
namespace on_lanes {
template <class T>
inline T select(bool condition, T a, T b) {
  return condition ? a : b;
}
template <class T>
inline T fma(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <class T>
inline T sqrt(T x) {
  return std::sqrt(x);
}
inline bool any(bool m) { return m; }
}  // namespace on_lanes
#endif

/// The result of comparing two `vec<T>`, lane by lane.
template <class T>
struct mask {
  lane_mask<T> value;

  mask() = default;
  explicit mask(lane_mask<T> m) : value(m) {}
  friend mask operator&&(mask a, mask b) { return mask(a.value && b.value); }
  friend mask operator||(mask a, mask b) { return mask(a.value || b.value); }
  friend mask operator!(mask a) { return mask(!a.value); }
};

/// A register. T is float, double, or a 32-bit or 64-bit integer. Lane i holds element i of the loaded elements.
template <class T>
struct vec {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  using scalar = T;
  static constexpr int width = width_of<T>;
  /// The lanes in memory.
  struct alignas(sizeof(lanes<T>)) array {
    T at[static_cast<std::size_t>(width)];
  };

  lanes<T> value;

  vec() = default;
  explicit vec(T x) : value(x) {}  // x in every lane
  static vec of(lanes<T> v) {
    vec result;
    result.value = v;
    return result;
  }
  static vec of(array const& a) { return of(std::bit_cast<lanes<T>>(a)); }
  array lane_array() const { return std::bit_cast<array>(value); }

  // Integers wrap.
  friend vec operator+(vec a, vec b) { return of_wrapped(a.wrapped() + b.wrapped()); }
  friend vec operator-(vec a, vec b) { return of_wrapped(a.wrapped() - b.wrapped()); }
  friend vec operator*(vec a, vec b) { return of_wrapped(a.wrapped() * b.wrapped()); }
  friend vec operator/(vec a, vec b) {
    if constexpr (std::is_integral_v<T>) {
      auto x = a.lane_array();
      auto const y = b.lane_array();
      for (int i = 0; i < width; ++i) x.at[i] = static_cast<T>(x.at[i] / y.at[i]);
      return of(x);
    } else {
      return of(a.value / b.value);
    }
  }
  friend mask<T> operator<(vec a, vec b) { return mask<T>(a.value < b.value); }
  friend mask<T> operator<=(vec a, vec b) { return mask<T>(a.value <= b.value); }
  friend mask<T> operator>(vec a, vec b) { return b < a; }
  friend mask<T> operator>=(vec a, vec b) { return b <= a; }
  friend mask<T> operator==(vec a, vec b) { return mask<T>(a.value == b.value); }
  friend mask<T> operator!=(vec a, vec b) { return !(a == b); }  // true for NaN, but xsimd's is false

  // The following operators are for integers. >> keeps the sign of a signed integer.
  friend vec operator&(vec a, vec b) { return of(static_cast<lanes<T>>(a.value & b.value)); }
  friend vec operator|(vec a, vec b) { return of(static_cast<lanes<T>>(a.value | b.value)); }
  friend vec operator^(vec a, vec b) { return of(static_cast<lanes<T>>(a.value ^ b.value)); }
  friend vec operator~(vec a) { return a ^ vec(static_cast<T>(-1)); }
  friend vec operator<<(vec a, int by) { return of(static_cast<lanes<T>>(a.value << by)); }
  friend vec operator>>(vec a, int by) { return of(static_cast<lanes<T>>(a.value >> by)); }

 private:
  using wrapping =
      typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  lanes<wrapping> wrapped() const { return std::bit_cast<lanes<wrapping>>(value); }
  static vec of_wrapped(lanes<wrapping> v) { return of(std::bit_cast<lanes<T>>(v)); }
};

/// The same bits, or the same mask, for another type of the same size.
template <class To, class From>
inline vec<To> bits_as(vec<From> v) {
  static_assert(sizeof(To) == sizeof(From));
  return vec<To>::of(std::bit_cast<lanes<To>>(v.value));
}
template <class To, class From>
inline mask<To> mask_as(mask<From> m) {
  static_assert(sizeof(To) == sizeof(From));
  return mask<To>(std::bit_cast<lane_mask<To>>(m.value));
}

/// `Count` numbers as a vector of the compiler, which converts and permutes on any instruction set.
template <class T, int Count>
struct compilers_vector {
  typedef T type __attribute__((vector_size(sizeof(T) * Count)));
};

/// Converts each lane as static_cast does. Both types have the same number of lanes.
template <class To, class From>
inline vec<To> convert(vec<From> v) {
  constexpr int width = vec<To>::width;
  static_assert(width == vec<From>::width);
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (width == 1) {
    return vec<To>(static_cast<To>(v.lane_array().at[0]));
  } else {
    using from = typename compilers_vector<From, width>::type;
    using to = typename compilers_vector<To, width>::type;
    return vec<To>::of(std::bit_cast<lanes<To>>(__builtin_convertvector(std::bit_cast<from>(v.value), to)));
  }
}

/// The lane numbers first, first + 1, ….
template <class T>
inline vec<T> lane_numbers(T first = 0) {
  typename vec<T>::array a;
  for (int i = 0; i < vec<T>::width; ++i) a.at[i] = first + static_cast<T>(i);
  return vec<T>::of(a);
}

template <class T>
inline vec<T> select(mask<T> condition, vec<T> a, vec<T> b) {
  if constexpr (std::is_integral_v<T>) {  // xsimd 8's own does not compile on AVX-512 without optimization
    using same_size = std::conditional_t<sizeof(T) == 4, float, double>;
    return bits_as<T>(select(mask_as<same_size>(condition), bits_as<same_size>(a), bits_as<same_size>(b)));
  } else {
    return vec<T>::of(on_lanes::select(condition.value, a.value, b.value));
  }
}

/// 1 in each lane where the condition holds, and 0 in the others.
template <class T>
inline vec<T> one_where(mask<T> condition) {
  return select(condition, vec<T>(1), vec<T>(0));
}

template <class T>
inline bool any(mask<T> m) {
  return on_lanes::any(m.value);
}
template <class T>
inline bool all(mask<T> m) {
  return !any(!m);
}

/// Computes a·b + c, with one rounding if math::fused says so, and with two otherwise.
template <class T>
inline vec<T> fma(vec<T> a, vec<T> b, vec<T> c) {
  if constexpr (!math::fused || std::is_integral_v<T>) {
    return a * b + c;
#if defined(XSIMD_HPP) && defined(__AVX512F__)  // because xsimd before 11 rounds between multiply and add here
  } else if constexpr (std::is_same_v<T, float> && vec<T>::width == 16) {
    return vec<T>::of(_mm512_fmadd_ps(a.value, b.value, c.value));
  } else if constexpr (std::is_same_v<T, double> && vec<T>::width == 8) {
    return vec<T>::of(_mm512_fmadd_pd(a.value, b.value, c.value));
#endif
  } else {
    return vec<T>::of(on_lanes::fma(a.value, b.value, c.value));
  }
}

#if defined(XSIMD_HPP) && defined(__SSE2__)
// Uses the instructions directly, because xsimd's max and min return the other operand for NaN since version 14.
inline __m128 greater_register(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
inline __m128d greater_register(__m128d a, __m128d b) { return _mm_max_pd(a, b); }
inline __m128 lesser_register(__m128 a, __m128 b) { return _mm_min_ps(a, b); }
inline __m128d lesser_register(__m128d a, __m128d b) { return _mm_min_pd(a, b); }
#  if defined(__AVX__)
inline __m256 greater_register(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
inline __m256d greater_register(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
inline __m256 lesser_register(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
inline __m256d lesser_register(__m256d a, __m256d b) { return _mm256_min_pd(a, b); }
#  endif
#  if defined(__AVX512F__)
inline __m512 greater_register(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
inline __m512d greater_register(__m512d a, __m512d b) { return _mm512_max_pd(a, b); }
inline __m512 lesser_register(__m512 a, __m512 b) { return _mm512_min_ps(a, b); }
inline __m512d lesser_register(__m512d a, __m512d b) { return _mm512_min_pd(a, b); }
#  endif
#endif

/// a > b ? a : b. Therefore it is b if either is NaN, as with the x86 instruction.
template <class T>
inline vec<T> greater(vec<T> a, vec<T> b) {
#if defined(XSIMD_HPP) && defined(__SSE2__)
  if constexpr (std::is_floating_point_v<T>) return vec<T>::of(greater_register(a.value, b.value));
  else return vec<T>::of(on_lanes::max(a.value, b.value));
#else
  return select(a > b, a, b);
#endif
}
template <class T>
inline vec<T> lesser(vec<T> a, vec<T> b) {
#if defined(XSIMD_HPP) && defined(__SSE2__)
  if constexpr (std::is_floating_point_v<T>) return vec<T>::of(lesser_register(a.value, b.value));
  else return vec<T>::of(on_lanes::min(a.value, b.value));
#else
  return select(a < b, a, b);
#endif
}

/// Correctly rounded.
template <class T>
inline vec<T> sqrt(vec<T> x) {
  return vec<T>::of(on_lanes::sqrt(x.value));
}

/// The product of the low halves of the 64-bit lanes.
inline vec<std::uint64_t> multiply_low_halves(vec<std::uint64_t> a, vec<std::uint64_t> b) {
#if defined(XSIMD_HPP) && defined(__AVX512F__)
  return vec<std::uint64_t>::of(_mm512_mul_epu32(a.value, b.value));
#elif defined(XSIMD_HPP) && defined(__AVX2__)
  return vec<std::uint64_t>::of(_mm256_mul_epu32(a.value, b.value));
#elif defined(XSIMD_HPP) && defined(__SSE2__) && !defined(__AVX__)
  return vec<std::uint64_t>::of(_mm_mul_epu32(a.value, b.value));
#else
  auto x = a.lane_array();
  auto const y = b.lane_array();
  for (int i = 0; i < vec<std::uint64_t>::width; ++i) x.at[i] = (x.at[i] & 0xffffffffu) * (y.at[i] & 0xffffffffu);
  return vec<std::uint64_t>::of(x);
#endif
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#if defined(__AVX512F__)
#  pragma GCC diagnostic pop
#endif
