// SPDX-License-Identifier: Apache-2.0
// Defines `lane_pack`, which has as many lanes as a register of 32-bit numbers, so that all types traverse an array in
// equal strides. Interpreted and instantiated kernels both compute with packs, so they give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "meshtensor/device/cpu/fused/register_type.hpp"
#include "meshtensor/device/cpu/load.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

inline constexpr int pack_width = vec<std::int32_t>::width;

/// The bytes of a row of `n` elements of any register type that is written in whole packs. It is a multiple of 64.
inline std::int64_t bytes_of_scratch_row(std::int64_t n) {
  constexpr std::int64_t step = pack_width < 8 ? 8 : pack_width;
  return (n + step - 1) / step * step * 8;
}

template <class T>
struct lane_pack {
  static constexpr int parts = pack_width / vec<T>::width;
  struct array {
    T at[static_cast<std::size_t>(pack_width)];
  };
  vec<T> part[static_cast<std::size_t>(parts)];

  lane_pack() = default;
  explicit lane_pack(T x) {
    for (auto& p : part) p = vec<T>(x);
  }
  static lane_pack of(array const& a) {
    lane_pack r;
    for (int i = 0; i < parts; ++i) r.part[i] = load<T>(a.at + i * vec<T>::width);
    return r;
  }
  array lane_array() const {
    array a;
    for (int i = 0; i < parts; ++i) store(part[i], a.at + i * vec<T>::width);
    return a;
  }
};

namespace detail {
template <class T>
inline int lanes_in_part(int i, int n) {
  int const left = n - i * vec<T>::width;
  return left < 0 ? 0 : left > vec<T>::width ? vec<T>::width : left;
}
}  // namespace detail

template <class E>
inline lane_pack<register_t<E>> load_pack(E const* p) {
  using T = register_t<E>;
  lane_pack<T> r;
  for (int i = 0; i < lane_pack<T>::parts; ++i) r.part[i] = load<T>(p + i * vec<T>::width);
  return r;
}
/// Loads the first n elements, and zeros after them.
template <class E>
inline lane_pack<register_t<E>> load_pack(E const* p, int n) {
  using T = register_t<E>;
  lane_pack<T> r;
  for (int i = 0; i < lane_pack<T>::parts; ++i)
    r.part[i] = load<T>(p + i * vec<T>::width, detail::lanes_in_part<T>(i, n));
  return r;
}
template <class E>
inline lane_pack<register_t<E>> load_pack_strided(E const* p, std::int64_t stride, int n) {
  using T = register_t<E>;
  typename lane_pack<T>::array a = {};
  for (int i = 0; i < n; ++i) a.at[i] = detail::number_of_element<T>(p[i * stride]);
  return lane_pack<T>::of(a);
}
template <class E>
inline void store_pack(lane_pack<register_t<E>> const& v, E* p) {
  using T = register_t<E>;
  for (int i = 0; i < lane_pack<T>::parts; ++i) store(v.part[i], p + i * vec<T>::width);
}
template <class E>
inline void store_pack(lane_pack<register_t<E>> const& v, E* p, int n) {
  using T = register_t<E>;
  for (int i = 0; i < lane_pack<T>::parts; ++i) store(v.part[i], p + i * vec<T>::width, detail::lanes_in_part<T>(i, n));
}
template <class E>
inline void store_pack_strided(lane_pack<register_t<E>> const& v, E* p, std::int64_t stride, int n) {
  auto const a = v.lane_array();
  for (int i = 0; i < n; ++i) p[i * stride] = detail::element_of<E>(a.at[i]);
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
