// SPDX-License-Identifier: Apache-2.0
// Chooses the type of a register's lanes, which is a batch of xsimd, or one number without xsimd. No other file
// includes xsimd.
#pragma once

#include <cmath>

#include "meshtensor/base/config.hpp"

#if !(defined(MESHTENSOR_WITH_XSIMD) && MESHTENSOR_WITH_XSIMD == 0) && __has_include(<xsimd/xsimd.hpp>)
#  include <xsimd/xsimd.hpp>
#endif
#if defined(__SSE2__)
#  include <immintrin.h>
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

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
