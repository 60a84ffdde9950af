// SPDX-License-Identifier: Apache-2.0
// Loops written out, so that arrays of registers stay in registers.
#pragma once

#include <type_traits>
#include <utility>

#include "meshtensor/base/config.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// f(0), f(1), … as constants. In a large file g++ would else call what f does with a few registers: f, too, is to be
/// `always_inline`.
template <int N, class F>
[[gnu::always_inline]] inline void unrolled(F const& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
