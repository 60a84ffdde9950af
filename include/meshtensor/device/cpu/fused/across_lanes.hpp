// SPDX-License-Identifier: Apache-2.0
// Reduces the lanes of a SIMD register to their sum or maximum, as trees of fixed shape.
#pragma once

#include <cstddef>
#include <utility>

#include "meshtensor/device/cpu/simd.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Shifts lanes down, so that lane i gets lane i + By if that exists.
template <int By, class T>
inline vec<T> moved_down(vec<T> v) {
  using all = typename compilers_vector<T, vec<T>::width>::type;
  all const x = std::bit_cast<all>(v.value);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return vec<T>::of(std::bit_cast<lanes<T>>(__builtin_shufflevector(x, x, (I + By) % vec<T>::width...)));
  }(std::make_integer_sequence<int, vec<T>::width>{});
}

/// Reduces all lanes with f, as a tree of fixed shape: lane i is combined with lane i + Lanes / 2, and so on.
template <int Lanes, class T, class F>
inline T fold_first(vec<T> v, F f) {
  if constexpr (Lanes == 1) return v.lane_array().at[0];
  else return fold_first<Lanes / 2>(f(v, moved_down<Lanes / 2>(v)), f);
}
template <class T, class F>
inline T fold(vec<T> v, F f) {
  return fold_first<vec<T>::width>(v, f);
}

template <class T>
inline T sum_of_lanes(vec<T> v) {
  return fold(v, [](vec<T> a, vec<T> b) { return a + b; });
}
/// The maximum of the lanes. If some lanes are NaN, it is any lane.
template <class T>
inline T greatest_of_lanes(vec<T> v) {
  return fold(v, [](vec<T> a, vec<T> b) { return greater(a, b); });
}

namespace detail {
/// One step of a transposed reduction. It takes the lanes whose number has `Bit` from b, and the others from a. To each
/// of them, it adds the lane whose number differs by that bit.
template <int Bit, class T>
[[gnu::always_inline]] inline vec<T> add_neighbours(vec<T> a, vec<T> b) {
  using all = typename compilers_vector<T, vec<T>::width>::type;
  all const x = std::bit_cast<all>(a.value), y = std::bit_cast<all>(b.value);
  return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    all const own = __builtin_shufflevector(x, y, ((I & Bit) != 0 ? vec<T>::width + I : I)...);
    all const other = __builtin_shufflevector(x, y, ((I & Bit) != 0 ? vec<T>::width + (I ^ Bit) : I ^ Bit)...);
    return vec<T>::of(std::bit_cast<lanes<T>>(own + other));
  }(std::make_integer_sequence<int, vec<T>::width>{});
}
template <int Count, class T>
[[gnu::always_inline]] inline vec<T> sums_of_lanes(vec<T>* of) {
  if constexpr (Count > 1) {
    for (int i = 0; i < Count / 2; ++i) of[i] = add_neighbours<Count / 2>(of[i], of[i + Count / 2]);
    return sums_of_lanes<Count / 2>(of);
  }
  return of[0];
}
}  // namespace detail

/// Lane i of the result is the sum of all lanes of register i, as a tree of fixed shape. The registers are overwritten.
template <class T>
[[gnu::always_inline]] inline vec<T> sums_of_lanes(vec<T> (&of)[static_cast<std::size_t>(vec<T>::width)]) {
  return detail::sums_of_lanes<vec<T>::width>(of);
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
