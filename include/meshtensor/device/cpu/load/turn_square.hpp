// SPDX-License-Identifier: Apache-2.0
// Transposes a square of floats in registers.
#pragma once

#include <cstdint>

#include "meshtensor/device/cpu/simd/lanes.hpp"

#include "meshtensor/device/cpu/simd/undefined_registers.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

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

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#include "meshtensor/device/cpu/simd/undefined_registers_end.hpp"
