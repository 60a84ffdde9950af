// SPDX-License-Identifier: Apache-2.0
// Generates packs from the indices of their elements: positions and random numbers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "meshtensor/base/philox.hpp"
#include "meshtensor/device/cpu/fused/lane_pack/convert.hpp"
#include "meshtensor/device/cpu/random.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The integers first, first + stride, …, rounded as if they were stored as E.
template <class E>
inline lane_pack<register_t<E>> positions(std::int64_t first, std::int64_t stride) {
  using T = register_t<E>;
  using integer = std::conditional_t<std::is_floating_point_v<T>, std::int64_t, T>;
  lane_pack<integer> r;
  for (int i = 0; i < lane_pack<integer>::parts; ++i)
    r.part[i] = lane_numbers<integer>(static_cast<integer>(i * vec<integer>::width)) *
                    vec<integer>(static_cast<integer>(stride)) +
                vec<integer>(static_cast<integer>(first));
  return settled<E>(convert_pack<T>(r));
}
/// Random numbers of the elements first, first + stride, …, where `draw(first, stride)` fills one register.
template <class T, class F>
inline lane_pack<T> random_pack(std::uint64_t first, std::uint64_t stride, F draw) {
  lane_pack<T> r;
  for (auto& p : r.part) {
    p = draw(first, stride);
    first += static_cast<std::uint64_t>(vec<T>::width) * stride;
  }
  return r;
}
template <class E>
inline lane_pack<register_t<E>> uniform_pack(uniform_source<register_t<E>>& from, random_stream const& s,
                                             std::uint64_t first, std::uint64_t stride) {
  return random_pack<register_t<E>>(first, stride, [&](std::uint64_t i, std::uint64_t by) {
    if constexpr (std::is_same_v<E, bf16_t>) return math::truncated_to_bf16(from(s, i, by));
    else return from(s, i, by);
  });
}
template <class E>
inline lane_pack<register_t<E>> normal_pack(random_stream const& s, std::uint64_t first, std::uint64_t stride) {
  using T = register_t<E>;
  return settled<E>(
      random_pack<T>(first, stride, [&](std::uint64_t i, std::uint64_t by) { return random_normal<T>(s, i, by); }));
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
