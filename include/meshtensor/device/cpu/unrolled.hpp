// SPDX-License-Identifier: Apache-2.0
// Unrolls loops, so that arrays of registers stay in registers.
#pragma once

#include <type_traits>
#include <utility>

#include "meshtensor/base/config.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Calls f(0), f(1), … with constants. Make f `always_inline`, too, because g++ does not inline it in a large file
/// otherwise.
template <int N, class F>
[[gnu::always_inline]] inline void unrolled(F const& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
