// SPDX-License-Identifier: Apache-2.0
// Keeps a best-fit free list over an unbounded arena.
#pragma once

#include <cstdint>

#include "meshtensor/base/config.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The free gaps, sorted by offset. No two of them are adjacent.
struct free_list {
  struct gap {
    std::int64_t from, to;
  };
  gap at[max_values] = {{0, std::int64_t{1} << 60}};
  int count = 1;

  /// Allocates `bytes` from the smallest gap that has room, and returns the offset.
  constexpr std::int64_t take(std::int64_t bytes) {
    int best = -1;
    for (int g = 0; g < count; ++g) {
      std::int64_t const room = at[g].to - at[g].from;
      if (room >= bytes && (best < 0 || room < at[best].to - at[best].from)) best = g;
    }
    std::int64_t const offset = at[best].from;
    at[best].from += bytes;
    if (at[best].from == at[best].to) close(best);
    return offset;
  }
  constexpr void give_back(std::int64_t from, std::int64_t to) {
    int g = 0;
    while (g < count && at[g].from < from) ++g;
    bool const joins_left = g > 0 && at[g - 1].to == from, joins_right = g < count && at[g].from == to;
    if (joins_left && joins_right) {
      at[g - 1].to = at[g].to;
      close(g);
    } else if (joins_left) {
      at[g - 1].to = to;
    } else if (joins_right) {
      at[g].from = from;
    } else {
      for (int k = count; k > g; --k) at[k] = at[k - 1];
      at[g] = {from, to};
      ++count;
    }
  }

 private:
  constexpr void close(int g) {
    for (int k = g; k + 1 < count; ++k) at[k] = at[k + 1];
    --count;
  }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
