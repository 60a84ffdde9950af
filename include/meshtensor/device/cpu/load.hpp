// SPDX-License-Identifier: Apache-2.0
// Loads and stores registers of any element type, either whole or only the first n lanes.
#pragma once

#include <cstring>
#include <utility>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dtype.hpp"
#include "meshtensor/device/cpu/simd.hpp"

#if defined(__AVX512F__)
#  pragma GCC diagnostic push  // as in simd.hpp
#  pragma GCC diagnostic ignored "-Wpragmas"
#  pragma GCC diagnostic ignored "-Wunknown-warning-option"
#  pragma GCC diagnostic ignored "-Wuninitialized"
#  pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

inline vec<float> widened(bf16_t const* p) {
#if defined(XSIMD_HPP) && defined(__AVX512F__)
  if constexpr (vec<float>::width == 16)
    return vec<float>::of(_mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(p))), 16)));
#elif defined(XSIMD_HPP) && defined(__AVX2__)
  if constexpr (vec<float>::width == 8)
    return vec<float>::of(_mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<__m128i const*>(p))), 16)));
#endif
  vec<float>::array a;
  for (int i = 0; i < vec<float>::width; ++i) a.at[i] = float{p[i]};
  return vec<float>::of(a);
}

/// Rounds to nearest even, as the constructor of bf16_t does. NaN stays a quiet NaN.
inline void narrowed(vec<float> v, bf16_t* p) {
  using word = vec<std::uint32_t>;
  word const bits = bits_as<std::uint32_t>(v);
  word const rounded = (bits + word(0x7fffu) + ((bits >> 16) & word(1u))) >> 16;
  word const result = select(mask_as<std::uint32_t>(v != v), (bits >> 16) | word(0x40u), rounded);
#if defined(XSIMD_HPP) && defined(__AVX512F__)
  if constexpr (vec<float>::width == 16)
    return _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(result.value));
#elif defined(XSIMD_HPP) && defined(__AVX2__)
  if constexpr (vec<float>::width == 8) {
    __m256i const packed = _mm256_packus_epi32(result.value, result.value);
    __m256i const together = _mm256_permute4x64_epi64(packed, 0b1000);
    return _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(together));
  }
#elif defined(XSIMD_HPP) && defined(__SSE2__) && !defined(__AVX__)
  if constexpr (vec<float>::width == 4) {  // the signed pack keeps 16 bits whose sign is spread over the upper ones
    __m128i const low = _mm_srai_epi32(_mm_slli_epi32(result.value, 16), 16);
    return _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi32(low, low));
  }
#endif
  auto const a = result.lane_array();
  for (int i = 0; i < word::width; ++i) p[i].bits = static_cast<std::uint16_t>(a.at[i]);
}

/// Converts v to an element type: rounds, truncates, or compares with zero for bool.
template <class E, class T>
inline E element_of(T v) {
  if constexpr (std::is_same_v<E, bool>) {
    return v != T(0);
  } else if constexpr (std::is_same_v<E, bf16_t>) {
    return bf16_t(static_cast<float>(v));
  } else {
    return static_cast<E>(v);
  }
}

template <class T, class E>
inline T number_of_element(E e) {
  if constexpr (std::is_same_v<E, bf16_t>) {
    return static_cast<T>(float{e});
  } else {
    return static_cast<T>(e);
  }
}

#if defined(XSIMD_HPP) && defined(__AVX__)
/// A mask of ones in the first n of eight lanes, or of four lanes for double.
inline __m256i first_lanes(int n, std::size_t bytes_of_lane) {
  alignas(64) static constexpr std::int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  int const words = n * static_cast<int>(bytes_of_lane / 4);
  return _mm256_loadu_si256(reinterpret_cast<__m256i const*>(ones_then_zeros + 8 - words));
}
#endif

/// Whether elements of E are single bytes that registers of T hold as 32-bit integers.
template <class T, class E>
inline constexpr bool widens_bytes = sizeof(E) == 1 && std::is_same_v<T, std::int32_t> && vec<T>::width > 1;
/// Integers of type Small, as many as T has lanes. Bytes convert to words through 16-bit halves, because there are
/// instructions for both steps.
template <class Small, class T>
using small_lanes = typename compilers_vector<Small, vec<T>::width>::type;

/// Copies the first n of `Count` elements between a register and memory. The other elements are zeros.
template <int Count, class E>
struct first_elements {
  alignas(64) E at[static_cast<std::size_t>(Count)] = {};

  first_elements() = default;
  first_elements(E const* p, int n) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    [[maybe_unused]] auto const bits = (1u << n) - 1u;
    if constexpr (sizeof(E) == 1 && Count == 16) {
      _mm_store_si128(reinterpret_cast<__m128i*>(at), _mm_maskz_loadu_epi8(static_cast<__mmask16>(bits), p));
      return;
    } else if constexpr (sizeof(E) == 2 && Count == 16) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(at), _mm256_maskz_loadu_epi16(static_cast<__mmask16>(bits), p));
      return;
    }
#endif
    for (int i = 0; i < n; ++i) at[i] = p[i];
  }
  void copy_to(E* p, int n) const {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    [[maybe_unused]] auto const bits = (1u << n) - 1u;
    if constexpr (sizeof(E) == 1 && Count == 16)
      return _mm_mask_storeu_epi8(p, static_cast<__mmask16>(bits),
                                  _mm_load_si128(reinterpret_cast<__m128i const*>(at)));
    else if constexpr (sizeof(E) == 2 && Count == 16)
      return _mm256_mask_storeu_epi16(p, static_cast<__mmask16>(bits),
                                      _mm256_load_si256(reinterpret_cast<__m256i const*>(at)));
#endif
    for (int i = 0; i < n; ++i) p[i] = at[i];
  }
};

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

/// Transposes a square of `transpose_tile` times `transpose_tile` floats.
inline constexpr std::int64_t transpose_tile = 8;
inline void turn_square(float const* from, std::int64_t row, float* to, std::int64_t to_row) {
#if defined(XSIMD_HPP) && defined(__AVX__)
  __m256 r[8], s[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(from + i * row);
  for (int i = 0; i < 8; i += 2)
    s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]), s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      r[i + 2 * k] = _mm256_shuffle_ps(s[i + k], s[i + k + 2], 0x44);
      r[i + 2 * k + 1] = _mm256_shuffle_ps(s[i + k], s[i + k + 2], 0xee);
    }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
#else
  for (int i = 0; i < transpose_tile; ++i)
    for (int j = 0; j < transpose_tile; ++j) to[j * to_row + i] = from[i * row + j];
#endif
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

#if defined(__AVX512F__)
#  pragma GCC diagnostic pop
#endif
