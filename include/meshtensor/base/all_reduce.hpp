// SPDX-License-Identifier: Apache-2.0
// Chooses the algorithm of this library's own all_reduce: gathered whole if it is small, else by parts. Transports
// execute it, and plans count its bytes, by these functions.
#pragma once

#include <cstdint>

namespace meshtensor {

/// A part of a row of elements; if the length does not divide evenly, the first parts have one more.
struct interval {
  std::int64_t begin;
  std::int64_t count;
};

constexpr interval part_of(std::int64_t elements, int parts, int index) {
  std::int64_t const base = elements / parts, rest = elements % parts;
  return {base * index + (index < rest ? index : rest), base + (index < rest ? 1 : 0)};
}

/// An all_reduce whose blocks have fewer bytes in total is gathered whole, in one message instead of two.
inline constexpr std::int64_t gathered_bytes = 4096;

constexpr bool is_gathered(std::int64_t block_bytes, std::int64_t members) {
  return block_bytes * members < gathered_bytes;
}

/// Bytes that member `index` receives from the others: all their blocks; or, for a large block, its own part from each,
/// and then every other part, reduced.
constexpr std::int64_t all_reduce_bytes(std::int64_t elements, std::int64_t each, int members, int index) {
  if (is_gathered(elements * each, members)) return (members - 1) * elements * each;
  std::int64_t const mine = part_of(elements, members, index).count;
  return ((members - 1) * mine + (elements - mine)) * each;
}

}  // namespace meshtensor
