// SPDX-License-Identifier: Apache-2.0
// Converts one number to an element of memory and back, as loads and stores of registers do for each lane.
#pragma once

#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dtype.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Converts v to an element type: rounds, truncates, or compares with zero for bool.
template <class E, class T>
inline E element_of(T v) {
  if constexpr (std::is_same_v<E, bool>) {
    return v != T(0);
  } else if constexpr (std::is_same_v<E, bf16_t>) {
    return bf16_t(static_cast<float>(v));
  } else {
    return static_cast<E>(v);
  }
}

template <class T, class E>
inline T number_of_element(E e) {
  if constexpr (std::is_same_v<E, bf16_t>) {
    return static_cast<T>(float{e});
  } else {
    return static_cast<T>(e);
  }
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
