// SPDX-License-Identifier: Apache-2.0
// The type that elements have in registers, by their type in memory or by their dtype.
#pragma once

#include <cstdint>
#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dtype.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The type of elements of E in registers: float for bf16, 32-bit integers for smaller types.
template <class E>
using register_t =
    std::conditional_t<std::is_same_v<E, bf16_t>, float, std::conditional_t<(sizeof(E) < 4), std::int32_t, E>>;

/// Calls f.operator()<T>() with the register type of a dtype.
template <class F>
constexpr decltype(auto) with_register(dtype t, F&& f) {
  switch (t) {
    case dtype::f64: return f.template operator()<double>();
    case dtype::f32:
    case dtype::bf16: return f.template operator()<float>();
    case dtype::i64: return f.template operator()<std::int64_t>();
    default: return f.template operator()<std::int32_t>();
  }
}
inline std::int64_t register_bytes(dtype t) { return t == dtype::f64 || t == dtype::i64 ? 8 : 4; }

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
