// SPDX-License-Identifier: Apache-2.0
// Random collectives, their inputs from a seed, and their results by counting indices: shared by the tests of comm/.
#pragma once

#include <algorithm>
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

inline constexpr mt::collective kinds[] = {
    mt::collective::all_reduce, mt::collective::reduce_scatter, mt::collective::all_gather, mt::collective::all_to_all,
    mt::collective::broadcast,  mt::collective::move,           mt::collective::reduce};

/// Whether a result is right, or the member has none.
inline bool is_right(mt::collective_call const& call, int index, bytes const& result, bytes const& right) {
  return (call.kind == mt::collective::reduce && index != call.root) || result == right;
}
inline constexpr mt::dtype types[] = {mt::f64, mt::f32, mt::bf16, mt::i32, mt::i64, mt::u8, mt::boolean};

inline int below(generator& g, int n) { return static_cast<int>(g() % static_cast<std::uint64_t>(n)); }

/// A move of some tensor between two placements on p members: along some dims it is cut into parts, before and after;
/// or to covers of such parts, which have elements in common.
inline mt::movement any_movement(generator& g, int p) {
  mt::movement m;
  m.dims = 1 + below(g, 3), m.kind = static_cast<mt::shift_kind>(below(g, 4)), m.along = below(g, m.dims + 1) - 1;
  std::int64_t before[8], after[8];
  for (int d = 0; d < m.dims; ++d) before[d] = after[d] = 1 + below(g, below(g, 3) == 0 ? 70 : 7);
  if (m.along < 0) m.kind = mt::shift_kind::cut;
  else if (m.kind == mt::shift_kind::cut || m.kind == mt::shift_kind::spread) after[m.along] = 1 + below(g, 9);
  m.extent = m.along < 0 ? 0 : before[m.along];
  // The members are a grid of two axes; each shards a dim, or not.
  int const rows = p % 2 == 0 ? 2 : 1;
  int const axes[] = {rows, p / rows};
  auto const lie = [&](std::int64_t const* extent, int const* dims) {
    mt::dynamic_array<mt::box> all;
    for (int r = 0; r < p; ++r) {
      mt::box b;
      std::copy(extent, extent + m.dims, b.extent);
      for (int a = 0; a < 2; ++a) {
        if (dims[a] < 0) continue;
        int const at = a == 0 ? r / axes[1] : r % axes[1];
        mt::interval const part = mt::part_of(b.extent[dims[a]], axes[a], at);
        b.origin[dims[a]] += part.begin, b.extent[dims[a]] = part.count;
      }
      all.push_back(b);
    }
    return all;
  };
  int const from[] = {below(g, m.dims + 1) - 1, below(g, m.dims + 1) - 1};
  int const to[] = {below(g, m.dims + 1) - 1, below(g, m.dims + 1) - 1};
  m.from = lie(before, from), m.to = lie(after, to);
  if (int const d = below(g, m.dims); m.along < 0 && below(g, 2) == 0)
    for (mt::box& b : m.to) {
      std::int64_t const end = std::min(after[d], b.origin[d] + b.extent[d] + below(g, 4));
      b.origin[d] = std::max<std::int64_t>(0, b.origin[d] - below(g, 4)), b.extent[d] = end - b.origin[d];
    }
  for (int r = 0; r < p; ++r)
    m.copy.push_back((from[0] < 0 ? r / axes[1] * axes[1] : 0) + (from[1] < 0 ? r % axes[1] : 0));
  m.find_alike();
  return m;
}

/// The call of member 0 of p, of some shape; every second one has parts that differ. Who holds what in a move lies in
/// `moves`.
inline mt::collective_call any_call(generator& g, mt::collective kind, mt::dtype type, int p, mt::movement& moves) {
  mt::collective_call call;
  call.kind = kind, call.type = type;
  call.op = static_cast<mt::reduction>(type == mt::boolean ? 2 + below(g, 2) : 1 + below(g, 3));
  call.dims = (kind == mt::collective::all_to_all ? 2 : 1) + below(g, 3);
  for (int d = 0; d < call.dims; ++d) call.extent[d] = 1 + below(g, 5);
  if (below(g, 3) == 0) call.extent[below(g, call.dims)] = 40 + below(g, 60);  // past the thresholds for small blocks
  bool const even = below(g, 2) == 0;
  if (mt::splits(kind)) {
    call.split = below(g, call.dims), call.split_grain = even ? 1 : 1 + below(g, 3);
    call.extent[call.split] *= even ? p : call.split_grain;
  }
  if (mt::joins(kind)) {
    do call.join = below(g, call.dims);
    while (call.join == call.split);
    if (!even) {
      call.join_grain = 1 + below(g, 3), call.joined = call.join_grain * (1 + below(g, 2 * p));
      call = mt::of_member(call, p, 0);
    }
  }
  if (mt::has_root(kind)) call.root = below(g, p);
  if (kind == mt::collective::move) {
    moves = any_movement(g, p);
    call.moves = &moves, call.dims = moves.dims, call.at.first = below(g, 12) - 5;
    bool const has_step = moves.kind == mt::shift_kind::cut || moves.kind == mt::shift_kind::spread;
    if (has_step && moves.along >= 0) call.at.step = (1 + below(g, 3)) * (below(g, 2) == 0 ? 1 : -1);
    if (type != mt::boolean) call.around[0] = std::byte{7};
    call = mt::of_member(call, p, 0);
  }
  return call;
}

/// The block of a member, by its own call: reals of all sizes, integers of the whole range, so that order and overflow
/// show.
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
  for (int m = 0; m < p; ++m) all.push_back(block_of(mt::of_member(call, p, m), seed, m));
  return all;
}

/// Part m of p of so many elements, counted one by one.
struct counted_part {
  std::int64_t begin = 0, count = 0;
  counted_part(std::int64_t elements, int p, int m, std::int64_t grain) {
    std::vector<std::int64_t> units(static_cast<std::size_t>(p));
    for (std::int64_t u = 0; u < elements / grain; ++u) ++units[static_cast<std::size_t>(u % p)];
    for (int j = 0; j < m; ++j) begin += units[static_cast<std::size_t>(j)] * grain;
    count = units[static_cast<std::size_t>(m)] * grain;
  }
};

inline std::vector<void const*> pointers_to(std::vector<bytes> const& blocks) {
  std::vector<void const*> all;
  for (bytes const& b : blocks) all.push_back(b.data());
  return all;
}

inline bytes expected_of_move(mt::collective_call const& call, int p, std::vector<bytes> const& blocks, int me) {
  mt::movement const& m = *call.moves;
  mt::box const& mine = m.to[static_cast<std::size_t>(me)];
  auto const size = mt::bytes_of(call.type);
  bytes result(static_cast<std::size_t>(mine.elements(m.dims)) * size);
  for (std::int64_t i = 0; i < mine.elements(m.dims); ++i) {
    std::int64_t at[8];
    for (std::int64_t d = m.dims, rest = i; d-- > 0; rest /= mine.extent[d])
      at[d] = mine.origin[d] + rest % mine.extent[d];
    if (m.along >= 0) {
      std::int64_t& a = at[m.along];
      if (m.kind == mt::shift_kind::spread) {
        std::int64_t from = 0;
        while (from < m.extent && call.at.first + call.at.step * from != a) ++from;
        a = from;
      } else {
        a = m.kind == mt::shift_kind::reverse ? call.at.first - a : call.at.first + call.at.step * a;
      }
      if (m.kind == mt::shift_kind::wrap) a = (a % m.extent + m.extent) % m.extent;
    }
    std::byte const* found = call.around;
    for (int j = 0; j < p; ++j) {
      mt::box const& b = m.from[static_cast<std::size_t>(j)];
      bool inside = true;
      std::int64_t place = 0;
      for (int d = 0; d < m.dims; ++d) {
        inside = inside && at[d] >= b.origin[d] && at[d] < b.origin[d] + b.extent[d];
        place = place * b.extent[d] + at[d] - b.origin[d];
      }
      if (!inside || m.copy[static_cast<std::size_t>(j)] != m.copy[static_cast<std::size_t>(me)]) continue;
      found = blocks[static_cast<std::size_t>(j)].data() + static_cast<std::size_t>(place) * size;
    }
    std::memcpy(result.data() + static_cast<std::size_t>(i) * size, found, size);
  }
  return result;
}

/// The result of one member, element by element, from the sentences in comm/collective/call.hpp and nothing else.
/// `call` is that of any member.
inline bytes expected(mt::collective_call const& call, int p, std::vector<bytes> const& blocks, int me) {
  using mt::collective;
  if (call.kind == collective::move) return expected_of_move(call, p, blocks, me);
  std::int64_t extent[8] = {};
  std::int64_t n = 1;
  for (int d = 0; d < call.dims; ++d) {
    extent[d] = call.extent[d];
    if (mt::splits(call.kind) && d == call.split)
      extent[d] = counted_part(call.extent[d], p, me, call.split_grain).count;
    if (mt::joins(call.kind) && d == call.join) extent[d] = call.joined == 0 ? extent[d] * p : call.joined;
    n *= extent[d];
  }
  bytes result(static_cast<std::size_t>(n) * mt::bytes_of(call.type));
  mt::with_element(call.type, [&]<class E>() {
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t at[8] = {};
      for (int d = call.dims - 1, rest = static_cast<int>(i); d >= 0; --d)
        at[d] = rest % extent[d], rest = static_cast<int>(rest / extent[d]);
      int from = me;
      std::int64_t block[8];  // extents of the block that is read
      std::copy(call.extent, call.extent + call.dims, block);
      if (mt::joins(call.kind))
        for (int j = 0; j < p; ++j) {
          counted_part const part(extent[call.join], p, j, call.joined == 0 ? call.extent[call.join] : call.join_grain);
          if (at[call.join] < part.begin || at[call.join] >= part.begin + part.count) continue;
          from = j, block[call.join] = part.count, at[call.join] -= part.begin;
          break;
        }
      if (mt::splits(call.kind)) at[call.split] += counted_part(call.extent[call.split], p, me, call.split_grain).begin;
      if (call.kind == collective::broadcast) from = call.root;
      std::int64_t place = 0;
      for (int d = 0; d < call.dims; ++d) place = place * block[d] + at[d];
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
        using sum_type = std::conditional_t<std::is_same_v<E, double>, double, float>;
        auto const both = [&](sum_type a, sum_type b) {
          return call.op == mt::reduction::sum ? a + b : (call.op == mt::reduction::max ? b > a : b < a) ? b : a;
        };
        std::vector<sum_type> terms;
        for (int j = 0; j < p; ++j) terms.push_back(read(j));
        if (call.kind == collective::all_reduce && mt::bytes_of(call) <= 4096) {  // as a tree
          std::size_t q = 1;
          while (2 * q <= terms.size()) q *= 2;
          for (std::size_t j = q; j < terms.size(); ++j) terms[j - q] = both(terms[j - q], terms[j]);
          for (std::size_t apart = 1; apart < q; apart *= 2)
            for (std::size_t j = 0; j < q; j += 2 * apart) terms[j] = both(terms[j], terms[j + apart]);
        } else {
          for (std::size_t j = 1; j < terms.size(); ++j) terms[0] = both(terms[0], terms[j]);
        }
        value = E(terms[0]);
      }
      std::memcpy(result.data() + i * static_cast<int>(sizeof(E)), &value, sizeof(E));
    }
  });
  return result;
}

}  // namespace calls
