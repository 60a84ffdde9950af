// SPDX-License-Identifier: Apache-2.0
// Describes how the result of a sum over windows is cut into blocks, and finds each block in the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "meshtensor/base/config.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

inline std::int64_t round_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }
inline constexpr std::int64_t row_padding = 16;  // elements, so that the rows of a block are not a power of two apart

/// A window_sum whose result is cut into blocks that are computed one by one. The result is a matrix of `rows` ×
/// `columns`, namely at_positions or at_taps. Sums over many positions are also cut into chunks. These depend on
/// extents only, so that the number of threads does not change the sums.
struct window_blocks {
  std::int64_t rows = 0, columns = 0, depth = 0;  // of the whole product of one group
  std::int64_t block_rows = 1, block_columns = 1, row_blocks = 0, column_blocks = 0;
  std::int64_t panel = 1, panels = 0;       // columns of a packed panel, and the number of panels
  std::int64_t chunks = 1, chunk = 0;       // of the depth
  int levels = 1;                           // of the sum over a chunk
  std::int64_t packed = 0, partial = 0;     // offsets of packed taps and of the chunks' sums, in elements of Sum
  std::int64_t first = 0, first_panel = 0;  // numbers of blocks and panels of all previous sums
  std::vector<std::int64_t> row_of_taps;    // offset of each (tap, channel)

  std::int64_t per_group() const { return row_blocks * column_blocks * chunks; }
  std::int64_t packed_columns() const { return panels * panel; }
};

/// The position of a block in its sum.
struct window_place {
  std::int64_t group, row, rows, column, columns, first, end;  // [first, end): its chunk of the depth
};
inline window_place place_of(window_blocks const& b, std::int64_t i) {
  std::int64_t const group = i / b.per_group(), chunk = i % b.chunks;
  i = i % b.per_group() / b.chunks;
  std::int64_t const column = i % b.column_blocks * b.block_columns, row = i / b.column_blocks * b.block_rows;
  std::int64_t const first = std::min(b.depth, chunk * b.chunk);
  return {group,
          row,
          std::min(b.block_rows, b.rows - row),
          column,
          std::min(b.block_columns, b.columns - column),
          first,
          std::min(b.depth, first + b.chunk)};
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
