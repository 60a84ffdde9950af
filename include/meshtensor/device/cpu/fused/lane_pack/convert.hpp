// SPDX-License-Identifier: Apache-2.0
// Converts packs between register types, and rounds them as if they were stored.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "meshtensor/base/function.hpp"
#include "meshtensor/base/saturating.hpp"
#include "meshtensor/device/cpu/fused/lane_pack.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

template <class To, class From>
inline lane_pack<To> convert_pack(lane_pack<From> const& v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (lane_pack<To>::parts == lane_pack<From>::parts) {
    lane_pack<To> r;
    for (int i = 0; i < lane_pack<To>::parts; ++i) r.part[i] = convert<To>(v.part[i]);
    return r;
  } else {
    using from = typename compilers_vector<From, pack_width>::type;
    using to = typename compilers_vector<To, pack_width>::type;
    // Not std::bit_cast, because a function should not return a vector larger than a register.
    return std::bit_cast<lane_pack<To>>(__builtin_convertvector(__builtin_bit_cast(from, v), to));
  }
}

/// Converts a pack to elements of E as a cast does: a float gives the nearest integer that E holds.
template <class E, class From>
inline lane_pack<register_t<E>> cast_pack(lane_pack<From> const& v) {
  using To = register_t<E>;
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    auto const from = v.lane_array();
    typename lane_pack<To>::array to;
    for (int i = 0; i < pack_width; ++i) to.at[i] = saturated_integer<E>(from.at[i]);
    return lane_pack<To>::of(to);
  } else {
    return convert_pack<To>(v);
  }
}

/// Rounds a register as if it were stored as E and loaded again.
template <class E>
inline lane_pack<register_t<E>> settled(lane_pack<register_t<E>> v) {
  if constexpr (std::is_same_v<E, bf16_t>) {
    using word = vec<std::uint32_t>;
    for (auto& p : v.part) {
      word const bits = bits_as<std::uint32_t>(p);
      word const rounded = bits + word(0x7fffu) + ((bits >> 16) & word(1u));
      word const kept = select(mask_as<std::uint32_t>(p != p), bits | word(0x400000u), rounded);
      p = bits_as<float>(kept & word(0xffff0000u));
    }
  } else if constexpr (std::is_same_v<E, std::uint8_t>) {
    for (auto& p : v.part) p = p & vec<std::int32_t>(255);
  }
  return v;
}
/// Whether a function's result may need rounding or truncation to its dtype.
constexpr bool must_settle(function f, dtype t) {
  if (t == dtype::bf16)
    return !is_comparison(f) && f != function::negate && f != function::abs && f != function::select &&
           f != function::maximum && f != function::minimum && f != function::relu;
  return t == dtype::u8 && (f == function::cast || f == function::negate ||
                            (f >= function::add && f <= function::multiply) || f == function::power);
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
