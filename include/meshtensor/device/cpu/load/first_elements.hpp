// SPDX-License-Identifier: Apache-2.0
// Copies the first elements of a register from and to memory, and touches no memory behind them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "meshtensor/device/cpu/simd/lanes.hpp"

#include "meshtensor/device/cpu/simd/undefined_registers.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

#if defined(XSIMD_HPP) && defined(__AVX__)
/// A mask of ones in the first n of eight lanes, or of four lanes for double.
inline __m256i first_lanes(int n, std::size_t bytes_of_lane) {
  alignas(64) static constexpr std::int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  int const words = n * static_cast<int>(bytes_of_lane / 4);
  return _mm256_loadu_si256(reinterpret_cast<__m256i const*>(ones_then_zeros + 8 - words));
}
#endif

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
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#include "meshtensor/device/cpu/simd/undefined_registers_end.hpp"
