// SPDX-License-Identifier: Apache-2.0
// Defines a tuple whose items are numbered at compile time. It holds registers of a kernel's steps, lanes of its sums,
// or addresses of its streams. Each item is a separate variable, so that it can be kept in a register.
#pragma once

#include <utility>

#include "meshtensor/base/config.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

template <int I, class T>
struct item {
  T value;
};

/// An `Of<I>` for each number I of a sequence.
template <class Numbers, template <int> class Of>
struct items;
template <int... I, template <int> class Of>
struct items<std::integer_sequence<int, I...>, Of> : item<I, Of<I>>... {};

/// The item with number I, for example `of<3>(cells)`.
template <int I, class T>
[[gnu::always_inline]] inline T& of(item<I, T>& all) {
  return all.value;
}
template <int I, class T>
[[gnu::always_inline]] inline T const& of(item<I, T> const& all) {
  return all.value;
}

/// The numbers below N. It is no alias, because g++ 14 does not expand an alias inside another template's arguments.
template <int N>
struct below {
  using type = std::make_integer_sequence<int, N>;
};

/// `moved` adds `By` to each number of a sequence, and `joined` concatenates sequences.
template <int By, class Numbers>
struct moved;
template <int By, int... I>
struct moved<By, std::integer_sequence<int, I...>> {
  using type = std::integer_sequence<int, I + By...>;
};
template <class A, class B, class C>
struct joined;
template <int... A, int... B, int... C>
struct joined<std::integer_sequence<int, A...>, std::integer_sequence<int, B...>, std::integer_sequence<int, C...>> {
  using type = std::integer_sequence<int, A..., B..., C...>;
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
