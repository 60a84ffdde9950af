// SPDX-License-Identifier: Apache-2.0
// Reduces packs: lane i of the sums accumulates elements i, i + pack_width, …, and at last all lanes are folded.
#pragma once

#include <cstdint>
#include <type_traits>

#include "meshtensor/base/reduction.hpp"
#include "meshtensor/device/cpu/fused/across_lanes.hpp"
#include "meshtensor/device/cpu/fused/lane_pack/functions.hpp"
#include "meshtensor/op/detail/scalar.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The type in which elements are summed or compared.
template <class T>
using total_t = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

/// The initial value of a total of elements of type E, which is also the result if there are no elements.
template <reduction K, class E>
inline constexpr auto reduction_start = total_t<register_t<E>>(K == reduction::sum ? 0 : neutral<E>(K));

constexpr function function_of(reduction k) {
  return k == reduction::sum ? function::add : k == reduction::max ? function::maximum : function::minimum;
}
template <reduction K, class T>
inline lane_pack<T> combined(lane_pack<T> const& a, lane_pack<T> const& b) {
  return apply_to_packs<function_of(K)>(a, b);
}
template <reduction K, class T>
inline T combined(T a, T b) {
  return apply<T>(function_of(K), a, b);
}

/// The first n lanes. The other lanes hold the reduction's identity.
template <reduction K, class T>
inline lane_pack<T> first_lanes_of(lane_pack<T> const& v, int n) {
  lane_pack<T> r;
  for (int i = 0; i < lane_pack<T>::parts; ++i)
    r.part[i] = select(lane_numbers<T>(static_cast<T>(i * vec<T>::width)) < vec<T>(static_cast<T>(n)), v.part[i],
                       vec<T>(reduction_start<K, T>));
  return r;
}

/// Reduces all lanes, as a tree of fixed shape.
template <reduction K, class T>
inline T folded(lane_pack<T> v) {
  auto const both = [](vec<T> a, vec<T> b) { return apply_to_lanes<function_of(K)>(a, b); };
  for (int half = lane_pack<T>::parts / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) v.part[i] = both(v.part[i], v.part[i + half]);
  return fold(v.part[0], both);
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
