// SPDX-License-Identifier: Apache-2.0
// Computes convolutions by our own loops, as products of gathered windows with the kernel or the gradient. Every
// element is one sum in a fixed order, so neither strides nor the number of threads change a bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "meshtensor/device/cpu/convolution/loops/add_products.hpp"
#include "meshtensor/device/cpu/convolution/loops/pack_panel.hpp"
#include "meshtensor/device/cpu/convolution/loops/window_blocks.hpp"
#include "meshtensor/device/cpu/convolution/problem.hpp"
#include "meshtensor/device/cpu/convolution/walk.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/matmul/loops.hpp"
#include "meshtensor/device/cpu/sum_of_blocks.hpp"
#include "meshtensor/device/cpu/threads.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

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
      b.block_rows = std::min(constants::rows, detail::round_up(b.rows, constants::tile_rows));
      auto const blocks = [&](std::int64_t rows) { return (b.rows + rows - 1) / rows * b.column_blocks * w.groups; };
      if (weights_) b.chunks = std::clamp<std::int64_t>(64 / blocks(b.block_rows), 1, 1 + b.depth / 2048);
      while (b.block_rows >= 4 * constants::tile_rows && blocks(b.block_rows) * b.chunks < 4 * threads_)
        b.block_rows = detail::round_up(b.block_rows / 2, constants::tile_rows);
      b.row_blocks = (b.rows + b.block_rows - 1) / b.block_rows;
      b.chunk = (b.depth + b.chunks - 1) / b.chunks;
      b.levels = levels_of_sum((b.chunk + constants::depth - 1) / constants::depth);
      b.first = blocks_, b.first_panel = panels;
      for (std::int64_t i = 0; i < w.depth(); ++i) b.row_of_taps.push_back(w.tap_offset(i));
      if (!weights_) {
        b.packed = elements_, elements_ += detail::round_up(w.groups * b.packed_columns() * b.depth, 16);
        panels += w.groups * b.panels;
      } else if (b.chunks > 1) {
        b.partial = elements_,
        elements_ += w.groups * b.per_group() * detail::round_up(b.block_rows * b.block_columns, 16);
      }
      blocks_ += w.groups * b.per_group();
      std::int64_t const deep = std::min(constants::depth, b.depth) + detail::row_padding;
      each_ =
          std::max(each_, b.levels * detail::round_up(b.block_rows * b.block_columns, 16) +
                              (b.block_rows + detail::row_padding) * deep + (weights_ ? b.block_columns * deep : 0));
      work_ += static_cast<double>(w.groups) * static_cast<double>(b.rows) * static_cast<double>(b.columns) *
               static_cast<double>(b.depth);
      cuts_.push_back(std::move(b));
    }
    each_ = detail::round_up(each_, 16);
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

  template <class Sum, class E>
  void pack_taps(std::int64_t i, E const* factors, Sum* room) const {
    std::size_t const s = owner(i, &detail::window_blocks::first_panel);
    detail::window_blocks const& b = cuts_[s];
    window_sum const& w = sums_[s];
    i -= b.first_panel;
    std::int64_t const group = i / b.panels, column = i % b.panels * b.panel;
    detail::pack_panel(factors + w.taps.first + group * w.taps.group + column * w.taps.b, b.row_of_taps.data(), b.depth,
                       w.taps.b, b.columns - column, b.panel, room + b.packed + i * b.panel * b.depth);
  }

  template <class Sum, class E>
  void block(std::int64_t i, E const* source, E const* factors, E* result, Sum* room, Sum* own) const {
    std::size_t const s = owner(i, &detail::window_blocks::first);
    detail::window_blocks const& b = cuts_[s];
    window_sum const& w = sums_[s];
    i -= b.first;
    detail::window_place const at = detail::place_of(b, i);
    std::int64_t const size = detail::round_up(b.block_rows * b.block_columns, 16);
    Sum* const sums = b.chunks > 1 ? room + b.partial + i * size : own;
    detail::add_products(weights_, w, b, at, source, factors, room, sums, own);
    if (b.chunks == 1) write(w, b, at, sums, result);
  }

  template <class Sum, class E>
  void write(window_sum const& w, detail::window_blocks const& b, detail::window_place const& at, Sum const* sums,
             E* result) const {
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
    detail::window_place const at = detail::place_of(b, i * b.chunks);
    std::int64_t const size = detail::round_up(b.block_rows * b.block_columns, 16);
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
