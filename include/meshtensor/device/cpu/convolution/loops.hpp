// SPDX-License-Identifier: Apache-2.0
// Computes convolutions by our own loops, as products of gathered windows with the kernel or the gradient. Every
// element is one sum in a fixed order, so neither strides nor the number of threads change a bit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "meshtensor/device/cpu/convolution/gather.hpp"
#include "meshtensor/device/cpu/matmul/loops.hpp"
#include "meshtensor/device/cpu/matmul/small_product.hpp"
#include "meshtensor/device/cpu/sum_of_blocks.hpp"
#include "meshtensor/device/cpu/threads.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

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

}  // namespace detail

class convolution_loops {
 public:
  convolution_loops() = default;
  explicit convolution_loops(convolution_problem const& p, int threads)
      : weights_(p.direction == convolution_direction::weights), threads_(threads), type_(p.type) {
    for (window_sum const& w : window_sums_of(p)) {
      bool const empty = w.groups == 0 || w.b == 0 || (weights_ ? w.depth() : w.position_count()) == 0;
      if (!empty) sums_.push_back(w);
    }
    if (type_ == dtype::f64) cut<double>();
    else cut<float>();
  }

  std::size_t workspace_bytes() const { return static_cast<std::size_t>(elements_) * bytes_of_sum(); }

  /// `source` and `factors` are the operands of the direction in the order of convolution_plan.
  template <class = lazy>
  void execute(void const* source, void const* factors, void* result, void* workspace, thread_team* team) const {
    if (type_ == dtype::f64) run<double, double>(source, factors, result, workspace, team);
    else if (type_ == dtype::f32) run<float, float>(source, factors, result, workspace, team);
    else run<float, bf16_t>(source, factors, result, workspace, team);
  }

 private:
  static constexpr std::int64_t padding = 16;  // elements, so that the rows of a block are not a power of two apart

  static std::int64_t up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }
  std::size_t bytes_of_sum() const { return type_ == dtype::f64 ? 8 : 4; }

  /// Cuts the sums into blocks and assigns parts of the workspace.
  template <class Sum>
  void cut() {
    using constants = detail::matmul_blocks<Sum>;
    std::int64_t panels = 0;
    for (window_sum const& w : sums_) {
      detail::window_blocks b;
      b.rows = weights_ ? w.depth() : w.position_count();
      b.depth = weights_ ? w.position_count() : w.depth();
      b.columns = w.b;
      b.panel = b.columns <= constants::width ? constants::width : 2 * constants::width;
      b.panels = (b.columns + b.panel - 1) / b.panel;
      b.block_columns = std::min(constants::columns, b.packed_columns());
      b.column_blocks = (b.columns + b.block_columns - 1) / b.block_columns;
      b.block_rows = std::min(constants::rows, up(b.rows, constants::tile_rows));
      auto const blocks = [&](std::int64_t rows) { return (b.rows + rows - 1) / rows * b.column_blocks * w.groups; };
      if (weights_) b.chunks = std::clamp<std::int64_t>(64 / blocks(b.block_rows), 1, 1 + b.depth / 2048);
      while (b.block_rows >= 4 * constants::tile_rows && blocks(b.block_rows) * b.chunks < 4 * threads_)
        b.block_rows = up(b.block_rows / 2, constants::tile_rows);
      b.row_blocks = (b.rows + b.block_rows - 1) / b.block_rows;
      b.chunk = (b.depth + b.chunks - 1) / b.chunks;
      b.levels = levels_of_sum((b.chunk + constants::depth - 1) / constants::depth);
      b.first = blocks_, b.first_panel = panels;
      for (std::int64_t i = 0; i < w.depth(); ++i) b.row_of_taps.push_back(w.tap_offset(i));
      if (!weights_) {
        b.packed = elements_, elements_ += up(w.groups * b.packed_columns() * b.depth, 16);
        panels += w.groups * b.panels;
      } else if (b.chunks > 1) {
        b.partial = elements_, elements_ += w.groups * b.per_group() * up(b.block_rows * b.block_columns, 16);
      }
      blocks_ += w.groups * b.per_group();
      std::int64_t const deep = std::min(constants::depth, b.depth) + padding;
      each_ = std::max(each_, b.levels * up(b.block_rows * b.block_columns, 16) + (b.block_rows + padding) * deep +
                                  (weights_ ? b.block_columns * deep : 0));
      work_ += static_cast<double>(w.groups) * static_cast<double>(b.rows) * static_cast<double>(b.columns) *
               static_cast<double>(b.depth);
      cuts_.push_back(std::move(b));
    }
    each_ = up(each_, 16);
    panels_ = panels;
    if (work_ < 1 << 19) threads_ = 1;  // the work takes a few microseconds
    own_ = elements_, elements_ += each_ * threads_;
  }

  template <class F>
  void in_parallel(std::int64_t count, thread_team* team, F const& f) const {
    if (team == nullptr || threads_ == 1) return f(0, count);
    team->parallel_for(count, 1, f);
  }
  /// The index of the sum to which block or panel number i belongs.
  std::size_t owner(std::int64_t i, std::int64_t detail::window_blocks::* first) const {
    std::size_t at = cuts_.size() - 1;
    while (cuts_[at].*first > i) --at;
    return at;
  }

  template <class Sum, class E>
  void run(void const* source, void const* factors, void* result, void* workspace, thread_team* team) const {
    if (blocks_ == 0) return;
    Sum* const room = static_cast<Sum*>(workspace);
    if (panels_ > 0)
      in_parallel(panels_, team, [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first; i < end; ++i) pack_taps(i, static_cast<E const*>(factors), room);
      });
    in_parallel(blocks_, team, [&](std::int64_t first, std::int64_t end) {
      std::int64_t const here = team == nullptr || threads_ == 1 ? 0 : team->here();
      for (std::int64_t i = first; i < end; ++i)
        block(i, static_cast<E const*>(source), static_cast<E const*>(factors), static_cast<E*>(result), room,
              room + own_ + here * each_);
    });
    if (weights_ && cuts_[0].chunks > 1)
      in_parallel(blocks_ / cuts_[0].chunks, team, [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first; i < end; ++i) merge(i, static_cast<E*>(result), room);
      });
  }

  /// Packs `depth` rows of factors into one panel of columns, padded with zeros. `row[i]` is the offset of row i.
  template <class Sum, class E>
  static void pack_panel(E const* from, std::int64_t const* row, std::int64_t depth, std::int64_t stride,
                         std::int64_t columns, std::int64_t panel, Sum* to) {
    std::int64_t const here = std::min(panel, columns);
    if (stride == 1 || here == 1) {
      for (std::int64_t i = 0; i < depth; ++i, to += panel) {
        detail::copy_elements(from + row[i], 1, to, here);
        if (here < panel) std::fill(to + here, to + panel, Sum(0));
      }
      return;
    }
    if (here < panel) std::fill_n(to, depth * panel, Sum(0));
    constexpr std::int64_t square = 16;  // the transposition goes in squares, so that both sides stay in the cache
    for (std::int64_t start = 0; start < depth; start += square)
      for (std::int64_t j = 0; j < here; ++j)
        for (std::int64_t i = start; i < std::min(depth, start + square); ++i)
          to[i * panel + j] = detail::number_of_element<Sum>(from[row[i] + j * stride]);
  }

  template <class Sum, class E>
  void pack_taps(std::int64_t i, E const* factors, Sum* room) const {
    std::size_t const s = owner(i, &detail::window_blocks::first_panel);
    detail::window_blocks const& b = cuts_[s];
    window_sum const& w = sums_[s];
    i -= b.first_panel;
    std::int64_t const group = i / b.panels, column = i % b.panels * b.panel;
    pack_panel(factors + w.taps.first + group * w.taps.group + column * w.taps.b, b.row_of_taps.data(), b.depth,
               w.taps.b, b.columns - column, b.panel, room + b.packed + i * b.panel * b.depth);
  }

  /// The position of a block in its sum.
  struct place {
    std::int64_t group, row, rows, column, columns, first, end;  // [first, end): its chunk of the depth
  };
  static place place_of(detail::window_blocks const& b, std::int64_t i) {
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

  template <class Sum, class E>
  void block(std::int64_t i, E const* source, E const* factors, E* result, Sum* room, Sum* own) const {
    std::size_t const s = owner(i, &detail::window_blocks::first);
    detail::window_blocks const& b = cuts_[s];
    window_sum const& w = sums_[s];
    i -= b.first;
    place const at = place_of(b, i);
    std::int64_t const size = up(b.block_rows * b.block_columns, 16);
    Sum* const sums = b.chunks > 1 ? room + b.partial + i * size : own;
    add_products(w, b, at, source, factors, room, sums, own);
    if (b.chunks == 1) write(w, b, at, sums, result);
  }

  /// Computes the sums of a block over its chunk of the depth. `sums` gets the lowest level of the sums. `own` has room
  /// for the upper levels and then for the windows.
  template <class Sum, class E>
  void add_products(window_sum const& w, detail::window_blocks const& b, place const& at, E const* source,
                    E const* factors, Sum const* room, Sum* sums, Sum* own) const {
    using constants = detail::matmul_blocks<Sum>;
    std::int64_t const size = up(b.block_rows * b.block_columns, 16), used = at.rows * b.block_columns;
    Sum* const windows = own + b.levels * size;
    level_sums<Sum> levels(sums, own + size, size, used);
    std::int64_t const most = std::min(constants::depth, b.depth);
    bool const by_channels = detail::copies_channels(w), rows_are_near = by_channels == weights_;
    // One side of the windows is contiguous, and the other side has this stride.
    std::int64_t const far = (rows_are_near ? b.block_rows : most) + padding;
    block_view<Sum const> const a{windows, rows_are_near ? 1 : far, rows_are_near ? far : 1};
    Sum* const gradients = windows + (b.block_rows + padding) * (most + padding);
    if (at.first >= at.end) std::fill_n(sums, b.block_rows * b.block_columns, Sum(0));
    for (std::int64_t start = at.first; start < at.end; start += constants::depth) {
      bool const adds = levels.next();
      std::int64_t const deep = std::min(constants::depth, at.end - start);
      std::int64_t position[constants::depth];
      if (weights_)
        for (std::int64_t i = 0; i < deep; ++i) position[i] = w.position_offset(w.positions, start + i);
      detail::window_block<Sum> into{at.row, at.row + at.rows, start, start + deep, windows, a.row, a.column};
      if (weights_) into = {start, start + deep, at.row, at.row + at.rows, windows, a.column, a.row};
      detail::window_gather<Sum, E>{w, source + w.source.first + at.group * w.source.group}(into);
      for (std::int64_t j = 0; j < at.columns; j += b.panel) {
        Sum const* panel =
            room + b.packed + ((at.group * b.panels + (at.column + j) / b.panel) * b.depth + start) * b.panel;
        if (weights_) {
          pack_panel(factors + w.positions.first + at.group * w.positions.group + (at.column + j) * w.positions.b,
                     position, deep, w.positions.b, at.columns - j, b.panel, gradients);
          panel = gradients;
        }
        small_product<Sum>(at.rows, b.panel, deep, a, {panel, b.panel}, {sums + j, b.block_columns}, adds);
      }
    }
    levels.end();
  }

  template <class Sum, class E>
  void write(window_sum const& w, detail::window_blocks const& b, place const& at, Sum const* sums, E* result) const {
    window_sum::tensor const& to = weights_ ? w.taps : w.positions;
    E* const block = result + to.first + at.group * to.group + at.column * to.b;
    for (std::int64_t i = 0; i < at.rows; ++i, sums += b.block_columns) {
      E* const row =
          block + (weights_ ? b.row_of_taps[static_cast<std::size_t>(at.row + i)] : w.position_offset(to, at.row + i));
      if (to.b == 1) {
        constexpr int width = vec<Sum>::width;
        std::int64_t j = 0;
        for (; j + width <= at.columns; j += width) store(load<Sum>(sums + j), row + j);
        if (int const rest = static_cast<int>(at.columns - j); rest > 0) store(load<Sum>(sums + j), row + j, rest);
      } else {
        for (std::int64_t j = 0; j < at.columns; ++j) row[j * to.b] = detail::element_of<E>(sums[j]);
      }
    }
  }

  /// Adds the chunks of a block in pairs and writes the block.
  template <class Sum, class E>
  void merge(std::int64_t i, E* result, Sum* room) const {
    detail::window_blocks const& b = cuts_[0];
    place const at = place_of(b, i * b.chunks);
    std::int64_t const size = up(b.block_rows * b.block_columns, 16);
    Sum* const total = room + b.partial + i * b.chunks * size;
    for (std::int64_t step = 1; step < b.chunks; step *= 2)
      for (std::int64_t k = 0; k + step < b.chunks; k += 2 * step)
        merge_numbers(total + k * size, total + (k + step) * size, at.rows * b.block_columns);
    write(sums_[0], b, at, total, result);
  }

  std::vector<window_sum> sums_;
  std::vector<detail::window_blocks> cuts_;
  bool weights_ = false;
  int threads_ = 1;
  dtype type_ = dtype::f32;
  std::int64_t blocks_ = 0, panels_ = 0, elements_ = 0, own_ = 0, each_ = 0;
  double work_ = 0;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
