// SPDX-License-Identifier: Apache-2.0
// Fuses pairs of arithmetic instructions: if only the next instruction reads a result, both run in one loop over the
// block. This gives the same bits with half the loads and stores.
#pragma once

#include <array>
#include <utility>

#include "meshtensor/device/cpu/fused/block_program.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

inline constexpr function paired[] = {function::add, function::subtract, function::multiply, function::divide};
inline constexpr std::size_t paired_count = std::size(paired);

constexpr int place_in_pairs(function f) {
  for (std::size_t i = 0; i < paired_count; ++i)
    if (paired[i] == f) return static_cast<int>(i);
  return -1;
}

/// Computes out[i] = second(first(a[i], b[i]), c[i]), or the same with the second function's operands swapped.
template <function First, function Second, bool Swapped, class T>
void run_pair(void* out, void const* a, void const* b, void const* c, std::int64_t n) {
  each_pack(n, [=](std::int64_t i, auto count) {
    auto const at = [&](void const* p) { return load_some(static_cast<T const*>(p) + i, count); };
    auto const x = apply_to_packs<First>(at(a), at(b)), y = at(c);
    store_some(Swapped ? apply_to_packs<Second>(y, x) : apply_to_packs<Second>(x, y), static_cast<T*>(out) + i, count);
  });
}
template <class T, std::size_t... I>
constexpr std::array<block_function, sizeof...(I)> pair_entries(std::index_sequence<I...>) {
  return {&run_pair<paired[I / 2 / paired_count], paired[I / 2 % paired_count], I % 2 == 1, T>...};
}
template <class T>
inline constexpr auto pairs_of = pair_entries<T>(std::make_index_sequence<2 * paired_count * paired_count>{});

}  // namespace detail

/// Returns the block function that fuses two functions of a dtype, or null if they do not pair.
template <class = lazy>
block_function pair_block(function first, function second, bool swapped, dtype t) {
  int const f = detail::place_in_pairs(first), s = detail::place_in_pairs(second);
  if (f < 0 || s < 0) return nullptr;
  auto const entry = 2 * (static_cast<std::size_t>(f) * detail::paired_count + static_cast<std::size_t>(s)) + swapped;
  return t == dtype::f32 ? detail::pairs_of<float>[entry] : t == dtype::f64 ? detail::pairs_of<double>[entry] : nullptr;
}

/// Fuses all pairs of a program. `function_of` returns the function of a compute instruction.
template <class FunctionOf>
void pair_up(block_program& program, FunctionOf function_of) {
  using instruction = block_program::instruction;
  std::vector<int> reads(program.places.size());
  auto const count = [&](block_program::instructions const& list) {
    for (instruction const& i : list) ++reads[i.a], ++reads[i.b], ++reads[i.c];
  };
  count(program.once);
  for (auto const& p : program.phases) count(p.rows), count(p.blocks), count(p.ends);

  auto const paired = [&](instruction const& first, instruction const& second) -> instruction {
    instruction both = second;
    both.f = nullptr;
    bool const computes = first.does == block_program::kind::compute && second.does == block_program::kind::compute;
    bool const handed_on = program.places[first.out].where == block_program::place::buffer && reads[first.out] == 1;
    if (!computes || !handed_on || first.type != second.type || first.c != 0 || second.c != 0) return both;
    bool const swapped = second.b == first.out;
    if (!swapped && second.a != first.out) return both;
    both.f = pair_block(function_of(first), function_of(second), swapped, second.type);
    both.a = first.a, both.b = first.b, both.c = swapped ? second.a : second.b;
    return both;
  };
  for (auto& p : program.phases) {
    block_program::instructions done;
    for (instruction const& next : p.blocks) {
      if (!done.empty())
        if (instruction const both = paired(done.back(), next); both.f != nullptr) {
          done.back() = both;
          continue;
        }
      done.push_back(next);
    }
    p.blocks = std::move(done);
  }
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
