// SPDX-License-Identifier: Apache-2.0
// Reductions in one fixed order: member 0, then 1, … in the accumulator's type, rounded once. Every transport calls
// this function, so that all give the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/comm/collective.hpp"

namespace meshtensor::comm {

/// Returns the address of each member's block.
using sources_of_members = function_ref<void const*(int member)>;

namespace detail {

struct add {
  template <class A>
  A operator()(A a, A b) const {
    if constexpr (std::is_integral_v<A>)  // wraps
      return static_cast<A>(static_cast<std::make_unsigned_t<A>>(a) + static_cast<std::make_unsigned_t<A>>(b));
    else return a + b;
  }
};
struct greater {  // the comparison with itself lets a NaN through
  template <class A>
  A operator()(A a, A b) const {
    return b > a || b != b ? b : a;
  }
};
struct less {
  template <class A>
  A operator()(A a, A b) const {
    return b < a || b != b ? b : a;
  }
};

template <class E>
struct accumulator {
  using type = std::int64_t;
};
template <>
struct accumulator<double> {
  using type = double;
};
template <>
struct accumulator<float> {
  using type = float;
};
template <>
struct accumulator<bf16_t> {
  using type = float;
};

// One block of accumulators at a time: the loops vectorise, and a target that is one of the sources is read before it
// is written.
template <class E, class Op>
void fold(void* target, std::int64_t n, int count, Op op, sources_of_members sources) {
  using A = typename accumulator<E>::type;
  constexpr std::int64_t block = 512;
  A sum[block];
  auto* const out = static_cast<E*>(target);
  for (std::int64_t begin = 0; begin < n; begin += block) {
    std::int64_t const size = std::min(block, n - begin);
    for (int j = 0; j < count; ++j) {
      auto const* const x = static_cast<E const*>(sources(j)) + begin;
      if (j == 0)
        for (std::int64_t i = 0; i < size; ++i) sum[i] = static_cast<A>(x[i]);
      else
        for (std::int64_t i = 0; i < size; ++i) sum[i] = op(sum[i], static_cast<A>(x[i]));
    }
    for (std::int64_t i = 0; i < size; ++i) out[begin + i] = static_cast<E>(sum[i]);
  }
}

}  // namespace detail

/// target[i] = sources(0)[i] op sources(1)[i] op … op sources(count-1)[i] for n dense elements. The target may be one
/// of the sources.
inline void fold(reduction op, dtype type, void* target, std::int64_t n, int count, sources_of_members sources) {
  with_element(type, [&]<class Element>() {
    using E = std::conditional_t<std::is_same_v<Element, bool>, std::uint8_t, Element>;
    switch (op) {
      case reduction::sum: return detail::fold<E>(target, n, count, detail::add{}, sources);
      case reduction::max: return detail::fold<E>(target, n, count, detail::greater{}, sources);
      default: return detail::fold<E>(target, n, count, detail::less{}, sources);
    }
  });
}

}  // namespace meshtensor::comm
