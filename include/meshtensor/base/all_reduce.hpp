// SPDX-License-Identifier: Apache-2.0
// Chooses the algorithms of this library's own all_reduce and reduce. A small all_reduce goes in steps, and a small
// reduce goes directly to the root. Larger ones go by parts. Transports execute these algorithms, and plans count their
// bytes.
#pragma once

#include <bit>
#include <cstdint>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/parts.hpp"

namespace meshtensor {

/// An all_reduce of up to so many bytes goes in steps, as many as a tree has levels, because latency dominates its
/// time.
inline constexpr std::int64_t bytes_in_steps = 4096;

constexpr bool goes_in_steps(std::int64_t block_bytes) { return block_bytes <= bytes_in_steps; }

/// Steps of p members, where q is the largest power of two up to p. First, member q + i gives its block to member i.
/// Then members i and i xor 1 exchange their sums, then i and i xor 2, then i and i xor 4, and so on. Last, member i
/// gives the result to member q + i.
///
/// source  recursive doubling of Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
///         MPICH", 2005
struct reduction_steps {
  int doubling;  // q
  int rest;      // p - q

  constexpr explicit reduction_steps(int members)
      : doubling(static_cast<int>(std::bit_floor(static_cast<unsigned>(members)))), rest(members - doubling) {}
  constexpr int exchanges() const { return std::countr_zero(static_cast<unsigned>(doubling)); }
  /// The number of messages that a member receives.
  constexpr int received(int index) const { return index >= doubling ? 1 : exchanges() + (index < rest ? 1 : 0); }
};

/// The dtype in which partial sums travel, so that they are rounded once, at the end.
constexpr dtype traveling(dtype type) { return type == dtype::bf16 ? dtype::f32 : type; }

/// Bytes that member `index` receives from the others. In steps these are partial results. For a large block, they are
/// its own part from each other member, and then every other part, reduced.
constexpr std::int64_t all_reduce_bytes(std::int64_t elements, dtype type, int members, int index, bool in_steps) {
  if (in_steps)
    return reduction_steps(members).received(index) * elements * static_cast<std::int64_t>(bytes_of(traveling(type)));
  std::int64_t const mine = part_of(elements, members, index).count;
  return ((members - 1) * mine + (elements - mine)) * static_cast<std::int64_t>(bytes_of(type));
}

/// Whether the blocks of a reduce go directly to the root. Large ones are reduced by parts, so that no link carries all
/// of them.
constexpr bool goes_to_root(std::int64_t elements, dtype type, int members) {
  return elements < members || elements * static_cast<std::int64_t>(bytes_of(type)) <= bytes_in_steps;
}

/// Bytes that member `index` of a reduce receives. If all blocks go to the root, only the root receives them. Otherwise
/// each member receives its own part from each other one, and the root receives every other part, reduced.
constexpr std::int64_t reduce_bytes(std::int64_t elements, dtype type, int members, int index, bool is_root) {
  std::int64_t const mine = part_of(elements, members, index).count, others = members - 1;
  std::int64_t const n = goes_to_root(elements, type, members) ? (is_root ? others * elements : 0)
                                                               : others * mine + (is_root ? elements - mine : 0);
  return n * static_cast<std::int64_t>(bytes_of(type));
}

}  // namespace meshtensor
