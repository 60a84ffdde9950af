// SPDX-License-Identifier: Apache-2.0
// Reductions in one fixed order, in the accumulator's type, rounded once. The order is member 0, then 1, …, or pairs as
// in a small all_reduce. Every transport calls these functions, so that all of them give the same bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/base/sum.hpp"
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

/// The loops over a block of elements of one dtype, with one operation, in the type of the accumulator. Only these
/// loops are compiled for each dtype, because the order of the members is the same for all.
struct block_loops {
  std::size_t element, sum;                                // bytes of an element, and of its accumulator
  void (*load)(void* sum, void const* x, std::int64_t n);  // accumulators from elements
  void (*accumulate)(void* sum, void const* x, std::int64_t n);
  void (*store)(void* out, void const* sum, std::int64_t n);                // elements from accumulators
  void (*combine)(void* to, void const* a, void const* b, std::int64_t n);  // two blocks of accumulators
};
template <class From, class To>
void convert(void* to, void const* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) static_cast<To*>(to)[i] = static_cast<To>(static_cast<From const*>(from)[i]);
}
template <class E, class A, class Op>
void add_elements(void* sum, void const* x, std::int64_t n) {
  auto* const all = static_cast<A*>(sum);
  for (std::int64_t i = 0; i < n; ++i) all[i] = Op()(all[i], static_cast<A>(static_cast<E const*>(x)[i]));
}
template <class A, class Op>
void add_sums(void* to, void const* a, void const* b, std::int64_t n) {
  auto const *x = static_cast<A const*>(a), *y = static_cast<A const*>(b);
  for (std::int64_t i = 0; i < n; ++i) static_cast<A*>(to)[i] = Op()(x[i], y[i]);
}

/// The loops of a dtype and an operation. bool has those of u8.
inline block_loops loops_of(reduction op, dtype type) {
  return with_element(type, [&]<class Element>() -> block_loops {
    using E = std::conditional_t<std::is_same_v<Element, bool>, std::uint8_t, Element>;
    using A = typename accumulator<E>::type;
    auto const of = []<class Op>(Op) {
      return block_loops{sizeof(E),      sizeof(A),       &convert<E, A>, &add_elements<E, A, Op>,
                         &convert<A, E>, &add_sums<A, Op>};
    };
    switch (op) {
      case reduction::sum: return of(add{});
      case reduction::max: return of(greater{});
      default: return of(less{});
    }
  });
}

// Works on one block of accumulators at a time, so that the loops vectorise. Therefore a target that is one of the
// sources is read before it is written.
inline void fold(block_loops const& loops, void* target, std::int64_t n, int count, sources_of_members sources) {
  constexpr std::int64_t block = 512;
  alignas(double) std::byte sum[block * sizeof(double)];
  for (std::int64_t begin = 0; begin < n; begin += block) {
    std::int64_t const size = std::min(block, n - begin), at = begin * static_cast<std::int64_t>(loops.element);
    for (int j = 0; j < count; ++j)
      (j == 0 ? loops.load : loops.accumulate)(sum, static_cast<std::byte const*>(sources(j)) + at, size);
    loops.store(static_cast<std::byte*>(target) + at, sum, size);
  }
}

/// Folds in the order of reduction_steps: members 0 and 1, 2 and 3, …, then pairs of these sums. A member of the
/// rest has no pair. Its block is first added to that of the member that receives it.
inline void fold_in_steps(block_loops const& loops, void* target, std::int64_t n, int count,
                          sources_of_members sources) {
  reduction_steps const steps(count);
  if (steps.doubling < 4 && steps.rest == 0) return fold(loops, target, n, count, sources);
  constexpr std::int64_t block = 64;
  constexpr int levels = 31;
  // sums[l] is of 2^l members, and waits for the sum of as many more. sums[0] is of one member with its rest.
  alignas(double) std::byte sums[levels][block * sizeof(double)];
  for (std::int64_t begin = 0; begin < n; begin += block) {
    std::int64_t const size = std::min(block, n - begin), at = begin * static_cast<std::int64_t>(loops.element);
    auto const block_of = [&](int j) { return static_cast<std::byte const*>(sources(j)) + at; };
    auto const load = [&](std::byte* sum, int j) {
      loops.load(sum, block_of(j), size);
      if (j < steps.rest) loops.accumulate(sum, block_of(steps.doubling + j), size);
    };
    for (int j = 0; j < steps.doubling; j += 2) {
      int const level = 1 + std::countr_one(static_cast<unsigned>(j) >> 1);  // where the sum waits
      std::byte* const sum = sums[level];
      load(sum, j);
      if (j + 1 < steps.rest) load(sums[0], j + 1), loops.combine(sum, sum, sums[0], size);
      else loops.accumulate(sum, block_of(j + 1), size);
      for (int l = 1; l < level; ++l) loops.combine(sum, sums[l], sum, size);
    }
    loops.store(static_cast<std::byte*>(target) + at, sums[steps.exchanges()], size);
  }
}

}  // namespace detail

/// target[i] = sources(0)[i] op sources(1)[i] op … op sources(count-1)[i] for n dense elements. A sum of more than
/// sum_fan_in floats is made in pairs, so that the error grows with the logarithm of `count`. The target may be one of
/// the sources.
inline void fold(reduction op, dtype type, void* target, std::int64_t n, int count, sources_of_members sources) {
  bool const in_pairs = is_float(type) && op == reduction::sum && count > sum_fan_in;
  (in_pairs ? detail::fold_in_steps : detail::fold)(detail::loops_of(op, type), target, n, count, sources);
}

/// The same for n elements of a collective, in the order of this collective.
inline void fold(collective_call const& call, void* target, std::int64_t n, int count, sources_of_members sources) {
  if (call.kind != collective::all_reduce || !goes_in_steps(call))
    return fold(call.op, call.type, target, n, count, sources);
  auto const how = is_float(call.type) ? &detail::fold_in_steps : &detail::fold;  // integers are equal in any order
  how(detail::loops_of(call.op, call.type), target, n, count, sources);
}

/// to[i] = first[i] op second[i], for n partial results in the dtype in which they travel. `to` may be `first` or
/// `second`.
inline void combine(reduction op, dtype type, void* to, void const* first, void const* second, std::int64_t n) {
  detail::block_loops const loops = detail::loops_of(op, traveling(type));
  if (loops.element == loops.sum) return loops.combine(to, first, second, n);
  detail::fold(loops, to, n, 2, [&](int j) { return j == 0 ? first : second; });
}

/// Convert a block to partial results, and back.
inline void to_traveling(dtype type, void* to, void const* from, std::int64_t n) {
  if (type != dtype::bf16) return copy_bytes(to, from, n * static_cast<std::int64_t>(bytes_of(type)));
  for (std::int64_t i = 0; i < n; ++i) static_cast<float*>(to)[i] = static_cast<bf16_t const*>(from)[i];
}
inline void from_traveling(dtype type, void* to, void const* from, std::int64_t n) {
  if (type != dtype::bf16) return copy_bytes(to, from, n * static_cast<std::int64_t>(bytes_of(type)));
  for (std::int64_t i = 0; i < n; ++i) static_cast<bf16_t*>(to)[i] = bf16_t(static_cast<float const*>(from)[i]);
}

}  // namespace meshtensor::comm
