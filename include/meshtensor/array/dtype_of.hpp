// SPDX-License-Identifier: Apache-2.0
// Finds the dtype of elements that are held as a type of C++.
#pragma once

#include <cstdint>
#include <type_traits>

#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

/// The dtype whose elements are held as `T`.
template <class T>
inline constexpr dtype dtype_of = [] {
  for (dtype t : {dtype::f64, dtype::f32, dtype::bf16, dtype::i32, dtype::i64, dtype::u8})
    if (with_element(t, []<class E>() { return std::is_same_v<E, T>; })) return t;
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, bf16_t> ||
                    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ||
                    std::is_same_v<T, std::uint8_t> || std::is_same_v<T, bool>,
                "meshtensor T02: an element is double, float, mt::bf16_t, int32_t, int64_t, uint8_t or bool");
  return dtype::boolean;
}();

}  // namespace meshtensor
