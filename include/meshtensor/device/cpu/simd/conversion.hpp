// SPDX-License-Identifier: Apache-2.0
// Converts registers to lanes of another type, either by their bits or by their values.
#pragma once

#include <bit>
#include <type_traits>

#include "meshtensor/device/cpu/simd/vec.hpp"

#include "meshtensor/device/cpu/simd/undefined_registers.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

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

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#include "meshtensor/device/cpu/simd/undefined_registers_end.hpp"
