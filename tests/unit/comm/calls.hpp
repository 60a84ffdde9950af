// SPDX-License-Identifier: Apache-2.0
// Random collectives, their inputs from a seed, and their results by counting indices: shared by the tests of comm/.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "meshtensor/comm/collective.hpp"

namespace calls {

namespace mt = meshtensor;
using bytes = std::vector<std::byte>;
using generator = std::mt19937_64;

inline constexpr mt::collective kinds[] = {mt::collective::all_reduce, mt::collective::reduce_scatter,
                                           mt::collective::all_gather, mt::collective::all_to_all,
                                           mt::collective::broadcast,  mt::collective::permute};
inline constexpr mt::dtype types[] = {mt::f64, mt::f32, mt::bf16, mt::i32, mt::i64, mt::u8, mt::boolean};

inline int below(generator& g, int n) { return static_cast<int>(g() % static_cast<std::uint64_t>(n)); }

/// A call of some shape that is right for p members. Its list of sources lies in `source`.
inline mt::collective_call any_call(generator& g, mt::collective kind, mt::dtype type, int p,
                                    std::vector<int>& source) {
  mt::collective_call call;
  call.kind = kind, call.type = type;
  call.op = static_cast<mt::reduction>(type == mt::boolean ? 2 + below(g, 2) : 1 + below(g, 3));
  call.dims = 1 + below(g, 4);
  for (int d = 0; d < call.dims; ++d) call.extent[d] = 1 + below(g, 5);
  if (below(g, 3) == 0) call.extent[below(g, call.dims)] = 40 + below(g, 60);  // past the thresholds for small blocks
  if (mt::splits(kind)) call.split = below(g, call.dims), call.extent[call.split] *= p;
  if (mt::joins(kind)) call.join = below(g, call.dims);
  if (kind == mt::collective::broadcast) call.root = below(g, p);
  if (kind == mt::collective::permute) {
    source.clear();
    for (int m = 0; m < p; ++m) source.push_back(below(g, p + 1) - 1);
    call.source = source.data();
  }
  return call;
}

/// The block of a member: reals of all sizes, integers of the whole range, so that order and overflow show.
inline bytes block_of(mt::collective_call const& call, std::uint64_t seed, int member) {
  generator g(seed * 1000003 + static_cast<std::uint64_t>(member));
  auto const n = static_cast<std::size_t>(mt::elements_of(call));
  bytes block(static_cast<std::size_t>(mt::bytes_of(call)));
  mt::with_element(call.type, [&]<class E>() {
    for (std::size_t i = 0; i < n; ++i) {
      E value;
      if constexpr (std::is_same_v<E, bool>) value = g() % 2 != 0;
      else if constexpr (std::is_integral_v<E>) value = static_cast<E>(g());
      else value = E(static_cast<float>(std::ldexp(static_cast<double>(g() >> 11) * 0x1p-52 - 1, below(g, 24) - 12)));
      std::memcpy(block.data() + i * sizeof(E), &value, sizeof(E));
    }
  });
  return block;
}

inline std::vector<bytes> blocks_of(mt::collective_call const& call, std::uint64_t seed, int p) {
  std::vector<bytes> all;
  for (int m = 0; m < p; ++m) all.push_back(block_of(call, seed, m));
  return all;
}

inline std::vector<void const*> pointers_to(std::vector<bytes> const& blocks) {
  std::vector<void const*> all;
  for (bytes const& b : blocks) all.push_back(b.data());
  return all;
}

/// The result of one member, element by element, from the sentences in comm/collective.hpp and nothing else.
inline bytes expected(mt::collective_call const& call, int p, std::vector<bytes> const& blocks, int me) {
  using mt::collective;
  std::int64_t extent[8] = {};
  std::int64_t n = 1;
  for (int d = 0; d < call.dims; ++d) {
    extent[d] = call.extent[d];
    if (mt::splits(call.kind) && d == call.split) extent[d] /= p;
    if (mt::joins(call.kind) && d == call.join) extent[d] *= p;
    n *= extent[d];
  }
  bytes result(static_cast<std::size_t>(n) * mt::bytes_of(call.type));
  mt::with_element(call.type, [&]<class E>() {
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t at[8] = {};
      for (int d = call.dims - 1, rest = static_cast<int>(i); d >= 0; --d)
        at[d] = rest % extent[d], rest = static_cast<int>(rest / extent[d]);
      int from = me;
      if (mt::joins(call.kind)) {
        std::int64_t const part = extent[call.join] / p;
        from = static_cast<int>(at[call.join] / part);
        at[call.join] %= part;
      }
      if (mt::splits(call.kind)) at[call.split] += me * (call.extent[call.split] / p);
      if (call.kind == collective::broadcast) from = call.root;
      if (call.kind == collective::permute) from = call.source[me];
      std::int64_t place = 0;
      for (int d = 0; d < call.dims; ++d) place = place * call.extent[d] + at[d];
      auto const read = [&](int j) {
        E value;
        std::memcpy(&value, blocks[static_cast<std::size_t>(j)].data() + place * static_cast<int>(sizeof(E)),
                    sizeof(E));
        return value;
      };
      E value{};
      if (!mt::reduces(call.kind)) {
        if (from != -1) value = read(from);
      } else if constexpr (std::is_integral_v<E>) {
        auto sum = static_cast<std::uint64_t>(read(0));
        E most = read(0), least = read(0);
        for (int j = 1; j < p; ++j) {
          sum += static_cast<std::uint64_t>(read(j));
          if (read(j) > most) most = read(j);
          if (read(j) < least) least = read(j);
        }
        value = call.op == mt::reduction::sum ? static_cast<E>(sum) : call.op == mt::reduction::max ? most : least;
      } else {
        std::conditional_t<std::is_same_v<E, double>, double, float> total = read(0);
        for (int j = 1; j < p; ++j) {
          decltype(total) const next = read(j);
          if (call.op == mt::reduction::sum) total += next;
          else if (call.op == mt::reduction::max) total = next > total ? next : total;
          else total = next < total ? next : total;
        }
        value = E(total);
      }
      std::memcpy(result.data() + i * static_cast<int>(sizeof(E)), &value, sizeof(E));
    }
  });
  return result;
}

}  // namespace calls
