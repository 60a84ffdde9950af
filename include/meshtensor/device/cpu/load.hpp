// SPDX-License-Identifier: Apache-2.0
// Loads and stores registers of any element type, either whole or only the first n lanes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dtype.hpp"
#include "meshtensor/device/cpu/load/bf16.hpp"
#include "meshtensor/device/cpu/load/element.hpp"
#include "meshtensor/device/cpu/load/first_elements.hpp"
#include "meshtensor/device/cpu/simd.hpp"

#include "meshtensor/device/cpu/simd/undefined_registers.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// Whether elements of E are single bytes that registers of T hold as 32-bit integers.
template <class T, class E>
inline constexpr bool widens_bytes = sizeof(E) == 1 && std::is_same_v<T, std::int32_t> && vec<T>::width > 1;
/// Integers of type Small, as many as T has lanes. Bytes convert to words through 16-bit halves, because there are
/// instructions for both steps.
template <class Small, class T>
using small_lanes = typename compilers_vector<Small, vec<T>::width>::type;

}  // namespace detail

/// Loads `width` elements from p and converts them to T. bf16 converts exactly, and other types as static_cast does.
template <class T, class E>
inline vec<T> load(E const* p) {
  if constexpr (std::is_same_v<E, T> && vec<T>::width == 1) {
    return vec<T>(*p);
  } else if constexpr (std::is_same_v<E, T>) {
    return vec<T>::of(lanes<T>::load_unaligned(p));
  } else if constexpr (std::is_same_v<E, bf16_t> && std::is_same_v<T, float>) {
    return detail::widened(p);
  } else if constexpr (detail::widens_bytes<T, E>) {
    detail::small_lanes<std::uint8_t, T> bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    auto const halves = __builtin_convertvector(bytes, detail::small_lanes<std::uint16_t, T>);
    return vec<T>::of(std::bit_cast<lanes<T>>(__builtin_convertvector(halves, detail::small_lanes<T, T>)));
  } else {
    typename vec<T>::array a;
    for (int i = 0; i < vec<T>::width; ++i) a.at[i] = detail::number_of_element<T>(p[i]);
    return vec<T>::of(a);
  }
}

/// Loads the first n elements from p, and 0 in the other lanes. It does not touch memory after these elements.
template <class T, class E>
inline vec<T> load(E const* p, int n) {
#if defined(XSIMD_HPP) && defined(__AVX512F__)
  if constexpr (std::is_same_v<E, T> && sizeof(lanes<T>) == 64) {
    auto const bits = (1u << n) - 1u;
    if constexpr (sizeof(T) == 4) {
      return bits_as<T>(vec<std::int32_t>::of(_mm512_maskz_loadu_epi32(static_cast<__mmask16>(bits), p)));
    } else {
      return bits_as<T>(vec<std::int64_t>::of(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(bits), p)));
    }
  }
#elif defined(XSIMD_HPP) && defined(__AVX__)
  if constexpr (std::is_same_v<E, T> && sizeof(lanes<T>) == 32) {
    __m256i const first = detail::first_lanes(n, sizeof(T));
    if constexpr (sizeof(T) == 4) {
      return bits_as<T>(vec<float>::of(_mm256_maskload_ps(reinterpret_cast<float const*>(p), first)));
    } else {
      return bits_as<T>(vec<double>::of(_mm256_maskload_pd(reinterpret_cast<double const*>(p), first)));
    }
  }
#endif
  detail::first_elements<vec<T>::width, E> const first(p, n);
  return load<T>(static_cast<E const*>(first.at));
}

/// Stores all lanes, or the first n lanes, converted to E. For bf16 they are rounded to nearest even. For bool, every
/// number except for 0 is true.
template <class T, class E>
inline void store(vec<T> v, E* p) {
  if constexpr (std::is_same_v<E, T> && vec<T>::width == 1) {
    *p = v.lane_array().at[0];
  } else if constexpr (std::is_same_v<E, T>) {
    v.value.store_unaligned(p);
  } else if constexpr (std::is_same_v<E, bf16_t> && std::is_same_v<T, float>) {
    detail::narrowed(v, p);
  } else if constexpr (detail::widens_bytes<T, E>) {
    if constexpr (std::is_same_v<E, bool>) v = one_where(v != vec<T>(0));
    auto const halves = __builtin_convertvector(std::bit_cast<detail::small_lanes<T, T>>(v.value),
                                                detail::small_lanes<std::uint16_t, T>);
    auto const bytes = __builtin_convertvector(halves, detail::small_lanes<std::uint8_t, T>);
    std::memcpy(p, &bytes, sizeof bytes);
  } else {
    auto const a = v.lane_array();
    for (int i = 0; i < vec<T>::width; ++i) p[i] = detail::element_of<E>(a.at[i]);
  }
}

template <class T, class E>
inline void store(vec<T> v, E* p, int n) {
#if defined(XSIMD_HPP) && defined(__AVX512F__)
  if constexpr (std::is_same_v<E, T> && sizeof(lanes<T>) == 64) {
    auto const bits = (1u << n) - 1u;
    if constexpr (sizeof(T) == 4) {
      return _mm512_mask_storeu_epi32(p, static_cast<__mmask16>(bits), bits_as<std::int32_t>(v).value);
    } else {
      return _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(bits), bits_as<std::int64_t>(v).value);
    }
  }
#elif defined(XSIMD_HPP) && defined(__AVX__)
  if constexpr (std::is_same_v<E, T> && sizeof(lanes<T>) == 32) {
    __m256i const first = detail::first_lanes(n, sizeof(T));
    if constexpr (sizeof(T) == 4) {
      return _mm256_maskstore_ps(reinterpret_cast<float*>(p), first, bits_as<float>(v).value);
    } else {
      return _mm256_maskstore_pd(reinterpret_cast<double*>(p), first, bits_as<double>(v).value);
    }
  }
#endif
  detail::first_elements<vec<T>::width, E> all;
  store(v, static_cast<E*>(all.at));
  all.copy_to(p, n);
}

/// Loads the first n of the elements p[0], p[stride], …, and 0 in the other lanes.
template <class T, class E>
inline vec<T> load_strided(E const* p, std::ptrdiff_t stride, int n = vec<T>::width) {
  typename vec<T>::array a = {};
  for (int i = 0; i < n; ++i) a.at[i] = detail::number_of_element<T>(p[i * stride]);
  return vec<T>::of(a);
}

/// Loads the elements p[0], p[2], …, one for each lane. It touches no memory behind them.
template <class T, class E>
inline vec<T> load_even(E const* p) {
  constexpr int width = vec<T>::width;
  if constexpr (width == 1) {
    return load<T>(p);
  } else {
    using both = typename compilers_vector<T, width>::type;
    both const low = std::bit_cast<both>(load<T>(p).value), high = std::bit_cast<both>(load<T>(p + width - 1).value);
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      // The upper half starts at an odd element of `high`.
      return vec<T>::of(
          std::bit_cast<lanes<T>>(__builtin_shufflevector(low, high, (2 * I < width ? 2 * I : 2 * I + 1)...)));
    }(std::make_integer_sequence<int, width>());
  }
}

template <class T, class E>
inline void store_strided(vec<T> v, E* p, std::ptrdiff_t stride, int n = vec<T>::width) {
  auto const a = v.lane_array();
  for (int i = 0; i < n; ++i) p[i * stride] = detail::element_of<E>(a.at[i]);
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#include "meshtensor/device/cpu/simd/undefined_registers_end.hpp"
