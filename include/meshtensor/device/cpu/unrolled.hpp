// Loops written out, so that arrays of registers stay in registers.
#pragma once

#include <type_traits>
#include <utility>

namespace meshtensor::cpu::detail {

/// f(0), f(1), … as constants.
template <int N, class F>
[[gnu::always_inline]] inline void unrolled(F const& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (f(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

}  // namespace meshtensor::cpu::detail
