// SPDX-License-Identifier: Apache-2.0
// Computes the results of depthwise sums at positions, a segment of a line at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "meshtensor/device/cpu/convolution/depthwise/edge_lanes.hpp"
#include "meshtensor/device/cpu/convolution/depthwise/line_terms.hpp"
#include "meshtensor/device/cpu/convolution/walk.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/unrolled.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

inline constexpr std::int64_t segment_length = 128;  // positions of a line in one unit of work

/// Computes neighbouring positions, for all channels.
template <int Places, class Sum, class E>
void depthwise_places(std::span<line_term const> terms, E const* source, std::int64_t across, Sum const* taps, E* to,
                      std::int64_t along, std::int64_t count, std::int64_t tap_stride) {
  constexpr std::int64_t width = vec<Sum>::width;
  auto const channels = [&]<int N>(std::int64_t c, int n) __attribute__((always_inline)) {
    vec<Sum> sums[Places][N];
    auto const each = [&](auto const& f) __attribute__((always_inline)) {
      unrolled<N>([&](auto k) __attribute__((always_inline)) {
        unrolled<Places>([&](auto p) __attribute__((always_inline)) { f(p, k); });
      });
    };
    each([&](auto p, auto k) __attribute__((always_inline)) { sums[p][k] = vec<Sum>(Sum(0)); });
    for (line_term const& t : terms) {
      Sum const* const factors = taps + t.tap * tap_stride + c;
      E const* const from = source + t.from + c;
      each([&](auto p, auto k) __attribute__((always_inline)) {
        vec<Sum> const element = lanes_of<Sum>(from + p * across + k * width, n);
        sums[p][k] = fma(element, load<Sum>(factors + k * width), sums[p][k]);
      });
    }
    each([&](auto p, auto k)
             __attribute__((always_inline)) { put_lanes(sums[p][k], to + p * along + c + k * width, n); });
  };
  std::int64_t c = 0;
  for (; c + 4 * width <= count; c += 4 * width) channels.template operator()<4>(c, width);
  for (; c < count; c += width) channels.template operator()<1>(c, static_cast<int>(std::min(width, count - c)));
}

/// Computes a segment of a line. `taps` are the factors, and tap_stride is the distance from one tap to the next.
template <class Sum, class E>
void line_segment(window_sum const& w, std::int64_t unit, E const* source, Sum const* taps, std::int64_t tap_stride,
                  E* to, std::vector<line_term>& terms, std::vector<line_term>& some) {
  std::int64_t const length = w.dim[2].positions, segments = (length + segment_length - 1) / segment_length;
  std::int64_t const begin = unit % segments * segment_length, end = std::min(length, begin + segment_length);
  std::int64_t const across = w.dim[2].step * w.source.spatial[2];
  list_terms(w, unit / segments, terms);
  E* const row = to + w.positions.first + w.position_offset(w.positions, unit / segments * length);
  auto const [first, last] = common_positions(terms, begin, end);
  std::int64_t const along = w.positions.spatial[2];
  for (std::int64_t q = begin; q < end; ++q) {
    bool const whole = q >= first && q < last;
    some.clear();
    for (line_term const& t : terms)
      if (!whole && q >= t.first && q < t.end) some.push_back(t);
    bool const two = whole && q + 1 < last;
    E const* const from = source + q * across;
    if (two) depthwise_places<2>(terms, from, across, taps, row + q * along, along, w.groups, tap_stride);
    else depthwise_places<1>(whole ? terms : some, from, across, taps, row + q * along, along, w.groups, tap_stride);
    q += two;
  }
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
