// SPDX-License-Identifier: Apache-2.0
// Defines the functions of registers besides their operators, such as select, fma and greater. They use only operations
// that mean the same on every instruction set, and build the others from them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/lane.hpp"
#include "meshtensor/device/cpu/simd/conversion.hpp"
#include "meshtensor/device/cpu/simd/lanes.hpp"
#include "meshtensor/device/cpu/simd/vec.hpp"

#include "meshtensor/device/cpu/simd/undefined_registers.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

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

#include "meshtensor/device/cpu/simd/undefined_registers_end.hpp"
