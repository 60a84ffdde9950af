// SPDX-License-Identifier: Apache-2.0
// Walks an array by whole packs and then the rest of it, with loads and stores for both.
#pragma once

#include <cstdint>
#include <type_traits>

#include "meshtensor/device/cpu/fused/lane_pack.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// Calls f(index, n) for each whole pack, with n = pack_width, and then once for the rest. It is flattened, like the
/// loops of kernels. `f` is a copy and holds copies, because the compiler would read a referenced variable again after
/// each store of a pack.
template <class F>
[[gnu::flatten]] inline void each_pack(std::int64_t n, F f) {
  std::int64_t i = 0;
  for (; i + pack_width <= n; i += pack_width) f(i, std::integral_constant<int, pack_width>{});
  if (i < n) f(i, static_cast<int>(n - i));
}
template <class E>
inline auto load_some(E const* p, std::integral_constant<int, pack_width>) {
  return load_pack(p);
}
template <class E>
inline auto load_some(E const* p, int n) {
  return load_pack(p, n);
}
template <class E>
inline void store_some(lane_pack<register_t<E>> const& v, E* p, std::integral_constant<int, pack_width>) {
  store_pack(v, p);
}
template <class E>
inline void store_some(lane_pack<register_t<E>> const& v, E* p, int n) {
  store_pack(v, p, n);
}

}  // namespace detail

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
