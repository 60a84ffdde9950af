// SPDX-License-Identifier: Apache-2.0
// Adds the products of a block of gathered windows with the kernel or the gradient.
#pragma once

#include <algorithm>
#include <cstdint>

#include "meshtensor/device/cpu/convolution/gather.hpp"
#include "meshtensor/device/cpu/convolution/loops/pack_panel.hpp"
#include "meshtensor/device/cpu/convolution/loops/window_blocks.hpp"
#include "meshtensor/device/cpu/convolution/walk.hpp"
#include "meshtensor/device/cpu/matmul/loops.hpp"
#include "meshtensor/device/cpu/matmul/small_product.hpp"
#include "meshtensor/device/cpu/sum_of_blocks.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Computes the sums of a block over its chunk of the depth. `sums` gets the lowest level of the sums. `own` has room
/// for the upper levels and then for the windows. `weights` says that the result is at the taps.
template <class Sum, class E>
void add_products(bool weights, window_sum const& w, window_blocks const& b, window_place const& at, E const* source,
                  E const* factors, Sum const* room, Sum* sums, Sum* own) {
  using constants = matmul_blocks<Sum>;
  std::int64_t const size = round_up(b.block_rows * b.block_columns, 16), used = at.rows * b.block_columns;
  Sum* const windows = own + b.levels * size;
  level_sums<Sum> levels(sums, own + size, size, used);
  std::int64_t const most = std::min(constants::depth, b.depth);
  bool const by_channels = copies_channels(w), rows_are_near = by_channels == weights;
  // One side of the windows is contiguous, and the other side has this stride.
  std::int64_t const far = (rows_are_near ? b.block_rows : most) + row_padding;
  block_view<Sum const> const a{windows, rows_are_near ? 1 : far, rows_are_near ? far : 1};
  Sum* const gradients = windows + (b.block_rows + row_padding) * (most + row_padding);
  if (at.first >= at.end) std::fill_n(sums, b.block_rows * b.block_columns, Sum(0));
  for (std::int64_t start = at.first; start < at.end; start += constants::depth) {
    bool const adds = levels.next();
    std::int64_t const deep = std::min(constants::depth, at.end - start);
    std::int64_t position[constants::depth];
    if (weights)
      for (std::int64_t i = 0; i < deep; ++i) position[i] = w.position_offset(w.positions, start + i);
    window_block<Sum> into{at.row, at.row + at.rows, start, start + deep, windows, a.row, a.column};
    if (weights) into = {start, start + deep, at.row, at.row + at.rows, windows, a.column, a.row};
    window_gather<Sum, E>{w, source + w.source.first + at.group * w.source.group}(into);
    for (std::int64_t j = 0; j < at.columns; j += b.panel) {
      Sum const* panel =
          room + b.packed + ((at.group * b.panels + (at.column + j) / b.panel) * b.depth + start) * b.panel;
      if (weights) {
        pack_panel(factors + w.positions.first + at.group * w.positions.group + (at.column + j) * w.positions.b,
                   position, deep, w.positions.b, at.columns - j, b.panel, gradients);
        panel = gradients;
      }
      small_product<Sum>(at.rows, b.panel, deep, a, {panel, b.panel}, {sums + j, b.block_columns}, adds);
    }
  }
  levels.end();
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
