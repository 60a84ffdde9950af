// SPDX-License-Identifier: Apache-2.0
// Lists the taps that reach a line of positions, which is a row along the innermost dim.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "meshtensor/device/cpu/convolution/walk.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// One tap of a line. `from` is the source element that the line's first position reads through the tap, and [first,
/// end) are the positions that the tap reaches.
struct line_term {
  std::int64_t from, tap, first, end;
};

/// The number of lines.
inline std::int64_t lines(window_sum const& w) { return w.images * w.dim[0].positions * w.dim[1].positions; }

/// Lists the taps of a line in their order.
inline void list_terms(window_sum const& w, std::int64_t line, std::vector<line_term>& terms) {
  window_dim const &d0 = w.dim[0], &d1 = w.dim[1], &d2 = w.dim[2];
  std::int64_t const q1 = line % d1.positions, q0 = line / d1.positions % d0.positions;
  std::int64_t const image = line / d1.positions / d0.positions * w.source.image + w.source.first;
  terms.clear();
  for (std::int64_t t0 = 0; t0 < d0.taps; ++t0)
    for (std::int64_t t1 = 0; t1 < d1.taps; ++t1) {
      std::int64_t const s0 = d0.step * q0 + d0.tap_step * t0 + d0.start;
      std::int64_t const s1 = d1.step * q1 + d1.tap_step * t1 + d1.start;
      if (s0 < 0 || s0 >= d0.extent || s1 < 0 || s1 >= d1.extent) continue;
      for (std::int64_t t2 = 0; t2 < d2.taps; ++t2) {
        auto const [first, end] = d2.inside(t2);
        std::int64_t const from = image + s0 * w.source.spatial[0] + s1 * w.source.spatial[1] +
                                  (d2.tap_step * t2 + d2.start) * w.source.spatial[2];
        terms.push_back({from, (t0 * d1.taps + t1) * d2.taps + t2, first, end});
      }
    }
}
/// The positions of [begin, end) that all terms reach.
inline std::pair<std::int64_t, std::int64_t> common_positions(std::span<line_term const> terms, std::int64_t begin,
                                                              std::int64_t end) {
  for (line_term const& t : terms) begin = std::max(begin, t.first), end = std::min(end, t.end);
  return {begin, std::max(begin, end)};
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
