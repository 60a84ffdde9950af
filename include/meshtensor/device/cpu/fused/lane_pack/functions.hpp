// SPDX-License-Identifier: Apache-2.0
// Functions, comparisons and selections of packs, with the same bits for every lane.
#pragma once

#include <cstdint>
#include <type_traits>

#include "meshtensor/device/cpu/fused/lane_pack/convert.hpp"
#include "meshtensor/device/cpu/math.hpp"
#include "meshtensor/op/detail/scalar.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// 1 for each lane where the condition holds, and 0 for the others.
template <class T>
inline lane_pack<std::int32_t> ones_where(mask<T> const (&m)[static_cast<std::size_t>(lane_pack<T>::parts)]) {
  if constexpr (lane_pack<T>::parts == 1 && sizeof(T) == 4) {
    lane_pack<std::int32_t> r;
    r.part[0] = one_where(mask_as<std::int32_t>(m[0]));
    return r;
  } else {
    lane_pack<std::int64_t> wide;
    for (int i = 0; i < lane_pack<T>::parts; ++i) {
      if constexpr (sizeof(T) == 8) wide.part[i] = one_where(mask_as<std::int64_t>(m[i]));
    }
    return convert_pack<std::int32_t>(wide);
  }
}

template <function F, class T>
inline lane_pack<std::int32_t> compare_packs(lane_pack<T> const& a, lane_pack<T> const& b) {
  mask<T> m[static_cast<std::size_t>(lane_pack<T>::parts)];
  for (int i = 0; i < lane_pack<T>::parts; ++i) {
    if constexpr (F == function::equal) m[i] = a.part[i] == b.part[i];
    else if constexpr (F == function::not_equal) m[i] = a.part[i] != b.part[i];
    else if constexpr (F == function::less) m[i] = a.part[i] < b.part[i];
    else m[i] = a.part[i] <= b.part[i];
  }
  return ones_where<T>(m);
}

template <class T>
inline lane_pack<T> select_packs(lane_pack<std::int32_t> const& c, lane_pack<T> const& a, lane_pack<T> const& b) {
  lane_pack<T> r;
  if constexpr (sizeof(T) == 4) {
    for (int i = 0; i < lane_pack<T>::parts; ++i)
      r.part[i] = select(mask_as<T>(c.part[i] != vec<std::int32_t>(0)), a.part[i], b.part[i]);
  } else {
    auto const wide = convert_pack<std::int64_t>(c);
    for (int i = 0; i < lane_pack<T>::parts; ++i)
      r.part[i] = select(mask_as<T>(wide.part[i] != vec<std::int64_t>(0)), a.part[i], b.part[i]);
  }
  return r;
}

namespace detail {
/// Functions of integers. If registers do not support a function, it runs lane by lane.
template <function F, class T>
inline vec<T> apply_to_integer_lanes(vec<T> a, [[maybe_unused]] vec<T> b) {
  [[maybe_unused]] vec<T> const zero(T(0)), one(T(1));
  if constexpr (vec<T>::width > 1 && F == function::negate) return zero - a;
  else if constexpr (vec<T>::width > 1 && F == function::add) return a + b;
  else if constexpr (vec<T>::width > 1 && F == function::subtract) return a - b;
  else if constexpr (vec<T>::width > 1 && F == function::multiply) return a * b;
  else if constexpr (F == function::maximum) return select(a < b, b, a);
  else if constexpr (F == function::minimum) return select(b < a, b, a);
  else if constexpr (F == function::logical_not) return one_where(a == zero);
  else if constexpr (F == function::logical_and) return a & b;
  else if constexpr (F == function::logical_or) return a | b;
  else {
    auto x = a.lane_array();
    auto const y = b.lane_array();
    for (int i = 0; i < vec<T>::width; ++i) x.at[i] = apply<T>(F, x.at[i], y.at[i]);
    return vec<T>::of(x);
  }
}
}  // namespace detail

/// A function of operands of one type. Bools are 0 and 1.
template <function F, class T>
inline vec<T> apply_to_lanes(vec<T> a, vec<T> b) {
  if constexpr (std::is_floating_point_v<T>) return apply_to_floats<F>(a, b);
  else return detail::apply_to_integer_lanes<F>(a, b);
}
template <function F, class T>
inline lane_pack<T> apply_to_packs(lane_pack<T> const& a, lane_pack<T> const& b) {
  lane_pack<T> r;
  for (int i = 0; i < lane_pack<T>::parts; ++i) r.part[i] = apply_to_lanes<F>(a.part[i], b.part[i]);
  return r;
}

/// Whether a function exists for operands in registers of type T.
template <function F, class T>
inline constexpr bool has_function =
    F != function::copy && F != function::stop_gradient && F != function::cast &&
    (std::is_floating_point_v<T> ? !is_logical(F)
                                 : F != function::floor && !takes_only_floats(F) && (!is_logical(F) || sizeof(T) == 4));

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
