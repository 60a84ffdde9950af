// SPDX-License-Identifier: Apache-2.0
// Divides the space of a fused kernel among threads. It chooses the threads of a row, the rows of a block, and the
// numbers of chunks and tiles.
#pragma once

#include "meshtensor/device/cuda/fused/loop_space.hpp"

namespace meshtensor::cuda {

/// The index of the workspace among a launch's pointers.
inline constexpr int workspace_pointer = max_kernel_operands + max_kernel_results;
/// The positions of a launch's words: first indices of steps, identities of steps, and rows of numbers.
inline constexpr int most_walking_steps = 16, first_identity = 16, first_number = 32;

namespace detail {

struct fused_shape {
  kernel_reading const& r;
  descriptor const& d;
  loop_space space;
  int block;               // threads of a block
  int at_once = 1;         // neighbouring elements that a thread takes
  bool keeps = false;      // whether a row stays in registers from pass to pass
  int across = 1;          // threads of a row
  int rows = 1;            // rows that a block takes at the same time
  std::int64_t times = 1;  // parts of a row that its threads take in sequence
  std::int64_t tiles = 1;  // tiles of a row, one for each block
  std::int64_t kept = 1, reduced = 1, chunks = 1;
  int slot[max_kernel_steps] = {};
  int walking = 0;
  std::int64_t partial[max_kernel_steps] = {};  // offsets of sums' partial results in the workspace
  std::size_t workspace = 0;                    // its bytes

  fused_shape(module const& m, kernel_reading const& reading, view const* operands, view const* results,
              view const* inside, int const* alignment, int block_threads, std::int64_t enough_blocks)
      : r(reading),
        d(r.key),
        space(m, r, operands, results, inside),
        block(block_threads),
        kept(space.kept()),
        reduced(space.reduced()) {
    for (int i = 0; i < d.step_count; ++i)
      if (space.walks(i)) slot[i] = walking++;
    choose(alignment, enough_blocks);
    place_partials();
  }

  int threads() const { return across * rows; }
  bool has_sums() const { return space.over || space.total; }
  bool has_too_many_indices() const { return walking > most_walking_steps; }
  bool is_sum(int step) const { return goes_over(d.step(step).kind) || is_total(d.step(step).kind); }
  bool is_wide(int step) const { return goes_over(d.step(step).kind) && d.step(step).level == extent_class::vector; }
  /// The most terms that a thread adds up in one sum over rows, including the sums of the block's other rows at the
  /// end.
  std::int64_t terms_of(int step) const {
    std::int64_t const own = rounded(rounded(reduced, chunks), rows);
    return own * (is_total(d.step(step).kind) ? times * at_once : 1) + rows;
  }
  /// The number of partial results of a kept row, for each element if the sum is wide.
  std::int64_t parts_of(int step) const { return is_total(d.step(step).kind) ? chunks * tiles : chunks; }

 private:
  static std::int64_t rounded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to; }
  /// Chooses the elements that a thread takes at once, the threads of a row, the rows of a block, and the numbers of
  /// chunks and tiles of the space.
  void choose(int const* alignment, std::int64_t enough_blocks) {
    std::int64_t const width = std::max<std::int64_t>(1, space.width);
    at_once = 8;
    bool any = false;
    int smallest = 8;
    auto const fits = [&](int s, dtype t, int bytes_aligned) {
      if (space.across[s] != 1) return;
      any = true;
      auto const size = static_cast<int>(bytes_of(t));
      smallest = std::min(smallest, size);
      while (at_once > 1 && bytes_aligned % std::min(16, at_once * size) != 0) at_once /= 2;
      for (int l = 0; l < space.loops; ++l)
        while (at_once > 1 && space.stride[s][l] % at_once != 0) at_once /= 2;
    };
    for (int i = 0; i < d.operand_count; ++i)
      if (d.operand_class(i) >= extent_class::vector) fits(i, d.operand_type(i), alignment[i]);
    for (int i = 0; i < d.result_count; ++i)
      if (d.result_class(i) >= extent_class::vector)
        fits(first_result + i, d.type_of(d.result(i)), alignment[first_result + i]);
    if (!any) at_once = 1;
    while (at_once > 1 && (width % at_once != 0 || at_once * smallest > 16)) at_once /= 2;
    std::int64_t const all = kept * reduced * width;
    while (at_once > 1 && !space.along && all / at_once < enough_blocks * block) at_once /= 2;
    std::int64_t const pieces = rounded(width, at_once);
    across = 1;
    while (across < block && across < pieces) across *= 2;
    if (space.along) {
      while (across >= 64 && across < 1024 && pieces > 8 * across) across *= 2;
      times = rounded(pieces, across);
    } else {
      tiles = rounded(pieces, across);
    }
    keeps = space.along && times * at_once <= 32;
    rows = across >= block || (space.along && across > 32) ? 1 : block / across;
    if (!has_sums()) return;
    while (rows > 1 && rows >= 2 * reduced) rows /= 2;
    std::int64_t const wanted = rounded(reduced, std::int64_t{rows} * 8);
    chunks = std::max<std::int64_t>(
        1, std::min(wanted, rounded(2 * enough_blocks, std::max<std::int64_t>(1, kept * tiles))));
  }
  void place_partials() {
    for (int i = 0; i < d.step_count; ++i) {
      if (!is_sum(i) || parts_of(i) == 1) continue;
      partial[i] = static_cast<std::int64_t>(workspace);
      std::int64_t const bytes = kept * parts_of(i) * (is_wide(i) ? space.width : 1) * 8;
      workspace += static_cast<std::size_t>((bytes + 255) / 256 * 256);
    }
  }
};

}  // namespace detail

}  // namespace meshtensor::cuda
