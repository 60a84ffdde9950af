// SPDX-License-Identifier: Apache-2.0
// Reductions in one fixed order, in the accumulator's type, rounded once: member 0, then 1, …, or pairwise as small
// all_reduces go. Every transport calls these functions, so that all give the same bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// The order of reduction_steps: members 0 and 1, 2 and 3, …, then pairs of these; one of the rest is added to its
/// member first.
template <class E, class Op>
void fold_in_steps(void* target, std::int64_t n, int count, Op op, sources_of_members sources) {
  reduction_steps const steps(count);
  if (steps.doubling < 4 && steps.rest == 0) return fold<E>(target, n, count, op, sources);
  using A = typename accumulator<E>::type;
  constexpr std::int64_t block = 64;
  constexpr int levels = 31;
  A sums[levels][block];  // of 1, 2, 4, … members that wait for as many more
  auto* const out = static_cast<E*>(target);
  for (std::int64_t begin = 0; begin < n; begin += block) {
    std::int64_t const size = std::min(block, n - begin);
    auto const add_of = [&](int j, auto const& give) {  // calls give(i, x) for what is member j's, with its rest
      auto const* const x = static_cast<E const*>(sources(j)) + begin;
      if (j >= steps.rest) {
        for (std::int64_t i = 0; i < size; ++i) give(i, static_cast<A>(x[i]));
      } else {
        auto const* const more = static_cast<E const*>(sources(steps.doubling + j)) + begin;
        for (std::int64_t i = 0; i < size; ++i) give(i, op(static_cast<A>(x[i]), static_cast<A>(more[i])));
      }
    };
    for (int j = 0; j < steps.doubling; j += 2) {
      int const level = 1 + std::countr_one(static_cast<unsigned>(j) >> 1);  // where the sum waits
      A* const sum = sums[level];
      add_of(j, [&](std::int64_t i, A x) { sum[i] = x; });
      add_of(j + 1, [&](std::int64_t i, A x) { sum[i] = op(sum[i], x); });
      for (int l = 1; l < level; ++l)
        for (std::int64_t i = 0; i < size; ++i) sum[i] = op(sums[l][i], sum[i]);
    }
    A const* const all = sums[steps.exchanges()];
    for (std::int64_t i = 0; i < size; ++i) out[begin + i] = static_cast<E>(all[i]);
  }
}

/// Calls f.operator()<E>(op) with the type of elements, u8 for bool, and the operation.
template <class F>
void with_operation(reduction op, dtype type, F&& f) {
  with_element(type, [&]<class Element>() {
    using E = std::conditional_t<std::is_same_v<Element, bool>, std::uint8_t, Element>;
    switch (op) {
      case reduction::sum: return f.template operator()<E>(add{});
      case reduction::max: return f.template operator()<E>(greater{});
      default: return f.template operator()<E>(less{});
    }
  });
}

}  // namespace detail

/// target[i] = sources(0)[i] op sources(1)[i] op … op sources(count-1)[i] for n dense elements. The target may be one
/// of the sources.
inline void fold(reduction op, dtype type, void* target, std::int64_t n, int count, sources_of_members sources) {
  detail::with_operation(op, type, [&]<class E>(auto how) { detail::fold<E>(target, n, count, how, sources); });
}

/// The same in the order of a collective: n of its elements.
inline void fold(collective_call const& call, void* target, std::int64_t n, int count, sources_of_members sources) {
  if (call.kind != collective::all_reduce || !goes_in_steps(call))
    return fold(call.op, call.type, target, n, count, sources);
  detail::with_operation(call.op, call.type, [&]<class E>(auto how) {
    if constexpr (std::is_integral_v<E>) detail::fold<E>(target, n, count, how, sources);  // equal in any order
    else detail::fold_in_steps<E>(target, n, count, how, sources);
  });
}

/// to[i] = first[i] op second[i], for n partial results, as they travel. `to` may be one of them.
inline void combine(reduction op, dtype type, void* to, void const* first, void const* second, std::int64_t n) {
  detail::with_operation(op, traveling(type), [&]<class E>(auto how) {
    auto const *x = static_cast<E const*>(first), *y = static_cast<E const*>(second);
    using A = typename detail::accumulator<E>::type;
    for (std::int64_t i = 0; i < n; ++i)
      static_cast<E*>(to)[i] = static_cast<E>(how(static_cast<A>(x[i]), static_cast<A>(y[i])));
  });
}

/// Converts a block to partial results, or back.
inline void to_traveling(dtype type, void* to, void const* from, std::int64_t n) {
  if (type != dtype::bf16)
    return static_cast<void>(std::memcpy(to, from, static_cast<std::size_t>(n) * bytes_of(type)));
  for (std::int64_t i = 0; i < n; ++i) static_cast<float*>(to)[i] = static_cast<bf16_t const*>(from)[i];
}
inline void from_traveling(dtype type, void* to, void const* from, std::int64_t n) {
  if (type != dtype::bf16)
    return static_cast<void>(std::memcpy(to, from, static_cast<std::size_t>(n) * bytes_of(type)));
  for (std::int64_t i = 0; i < n; ++i) static_cast<bf16_t*>(to)[i] = bf16_t(static_cast<float const*>(from)[i]);
}

}  // namespace meshtensor::comm
