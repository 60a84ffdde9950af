// SPDX-License-Identifier: Apache-2.0
// Converts registers of floats from and to bf16 in memory.
#pragma once

#include <cstdint>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/device/cpu/simd.hpp"

#include "meshtensor/device/cpu/simd/undefined_registers.hpp"

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

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#include "meshtensor/device/cpu/simd/undefined_registers_end.hpp"
