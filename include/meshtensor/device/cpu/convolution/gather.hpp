// SPDX-License-Identifier: Apache-2.0
// Copies the windows of a convolution's source into a dense matrix, with zeros where a window leaves the source.
#pragma once

#include "meshtensor/device/cpu/convolution/walk.hpp"
#include "meshtensor/device/cpu/load.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Sets to[i] = from[i · stride] for i in [0, n), converted to the type of `to`.
template <class Sum, class E>
[[gnu::always_inline]] inline void copy_elements(E const* from, std::int64_t stride, Sum* to, std::int64_t n) {
  constexpr int width = vec<Sum>::width;
  std::int64_t i = 0;
  if (stride == 1) {
    for (; i + width <= n; i += width) store(load<Sum>(from + i), to + i);
    if (i < n) store(load<Sum>(from + i, static_cast<int>(n - i)), to + i, static_cast<int>(n - i));
  } else {
    for (; i < n; ++i) to[i] = number_of_element<Sum>(from[i * stride]);
  }
}

/// A block of the matrix of windows. One of its dims is the position. The other dim is called row, and it counts the
/// pairs (tap, channel).
template <class Sum>
struct window_block {
  std::int64_t first_position, end_position, first_row, end_row;
  Sum* to;
  std::int64_t position, row;  // strides of `to`, one of which is 1
};

/// Whether windows are best copied as runs of channels. If not, they are copied as runs of positions.
inline bool copies_channels(window_sum const& w) { return w.a > 1 && w.source.a == 1; }

/// Gathers the windows of one group, whose first source element is at `from`.
template <class Sum, class E>
struct window_gather {
  window_sum const& w;
  E const* from;

  void operator()(window_block<Sum> const& block) const {
    // If the taps along the innermost dim are contiguous as well, a whole row of taps is copied at once.
    bool const rows = copies_channels(w) && w.dim[2].tap_step == 1 && w.source.spatial[2] == w.a;
    std::int64_t const unit = rows ? w.a * w.dim[2].taps : w.a;
    for (std::int64_t at = block.first_row; at < block.end_row;) {
      std::int64_t const first = at % unit, end = std::min(unit, first + block.end_row - at);
      std::int64_t tap = at / unit;
      std::int64_t const t2 = rows ? 0 : tap % w.dim[2].taps;
      if (!rows) tap /= w.dim[2].taps;
      window const one{{tap / w.dim[1].taps, tap % w.dim[1].taps, t2}, first, end};
      copy(block, one, block.to + (at - block.first_row) * block.row, rows);
      at += end - first;
    }
  }

 private:
  struct window {
    std::int64_t tap[max_spatial_dims], first, end;  // elements of a tap, or of a row of taps
  };

  /// Copies one tap, or one row of taps, for all positions. Each step copies a run along the innermost dim.
  void copy(window_block<Sum> const& block, window const& one, Sum* to, bool rows) const {
    window_dim const &d0 = w.dim[0], &d1 = w.dim[1], &d2 = w.dim[2];
    std::int64_t p = block.first_position;
    std::int64_t q2 = p % d2.positions, q1 = p / d2.positions % d1.positions;
    std::int64_t q0 = p / (d2.positions * d1.positions) % d0.positions;
    std::int64_t image = p / (d2.positions * d1.positions * d0.positions);
    while (p < block.end_position) {
      std::int64_t const run = std::min(d2.positions - q2, block.end_position - p);
      std::int64_t const s0 = d0.step * q0 + d0.tap_step * one.tap[0] + d0.start;
      std::int64_t const s1 = d1.step * q1 + d1.tap_step * one.tap[1] + d1.start;
      bool const inside = s0 >= 0 && s0 < d0.extent && s1 >= 0 && s1 < d1.extent;
      std::int64_t const start = image * w.source.image + s0 * w.source.spatial[0] + s1 * w.source.spatial[1];
      if (rows) copy_rows(block, one, start, q2, inside ? run : 0, run, to);
      else copy_run(block, one, start, q2, inside, run, to);
      p += run, to += run * block.position, q2 = 0;
      if (++q1 == d1.positions) q1 = 0, ++q0;
      if (q0 == d0.positions) q0 = 0, ++image;
    }
  }

  /// Copies elements [first, end) of a row of taps for `count` positions, and writes zeros for the rest of `all`.
  void copy_rows(window_block<Sum> const& block, window const& one, std::int64_t start, std::int64_t q,
                 std::int64_t count, std::int64_t all, Sum* to) const {
    window_dim const& d = w.dim[2];
    for (std::int64_t i = 0; i < all; ++i, to += block.position) {
      std::int64_t const at = (d.step * (q + i) + d.start) * w.a, last = d.extent * w.a - at;
      std::int64_t const first = i < count ? std::clamp(-at, one.first, one.end) : one.end;
      std::int64_t const end = std::clamp(last, first, one.end);
      if (first > one.first) std::fill(to, to + (first - one.first), Sum(0));
      if (end > first) copy_elements(from + start + at + first, 1, to + (first - one.first), end - first);
      if (end < one.end) std::fill(to + (end - one.first), to + (one.end - one.first), Sum(0));
    }
  }

  void copy_run(window_block<Sum> const& block, window const& one, std::int64_t start, std::int64_t q, bool inside,
                std::int64_t run, Sum* to) const {
    window_dim const& d = w.dim[2];
    auto const [low, high] = d.inside(one.tap[2]);
    std::int64_t const first = inside ? std::clamp(low, q, q + run) - q : run;
    std::int64_t const end = inside ? std::clamp(high - q, first, run) : run;
    std::int64_t const channels = one.end - one.first, across = d.step * w.source.spatial[2];
    E const* const source =
        from + start + one.first * w.source.a + (d.step * q + d.tap_step * one.tap[2] + d.start) * w.source.spatial[2];
    if (block.row == 1) {
      for (std::int64_t i = 0; i < run; ++i, to += block.position)
        if (i >= first && i < end) copy_elements(source + i * across, w.source.a, to, channels);
        else std::fill(to, to + channels, Sum(0));
      return;
    }
    for (std::int64_t c = 0; c < channels; ++c, to += block.row) {
      std::fill(to, to + first, Sum(0));
      if (end > first) copy_elements(source + c * w.source.a + first * across, across, to + first, end - first);
      std::fill(to + end, to + run, Sum(0));
    }
  }
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
