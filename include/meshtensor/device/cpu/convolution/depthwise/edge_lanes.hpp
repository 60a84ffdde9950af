// SPDX-License-Identifier: Apache-2.0
// Loads and stores a register of channels, or its first lanes at the edge of the channels.
#pragma once

#include "meshtensor/device/cpu/load.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

template <class Sum, class E>
[[gnu::always_inline]] inline vec<Sum> lanes_of(E const* p, int n) {
  return n == vec<Sum>::width ? load<Sum>(p) : load<Sum>(p, n);
}
template <class Sum, class E>
[[gnu::always_inline]] inline void put_lanes(vec<Sum> v, E* p, int n) {
  if (n == vec<Sum>::width) store(v, p);
  else store(v, p, n);
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
