// SPDX-License-Identifier: Apache-2.0
// Writes a convolution in any direction as sums over windows. Each position reads a source through a window of taps,
// and each tap has one factor.
#pragma once

#include <numeric>
#include <vector>

#include "meshtensor/device/cpu/convolution/problem.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// One spatial dim. For each tap t, position q reads the source at step·q + tap_step·t + start if that is inside.
struct window_dim {
  std::int64_t positions = 1, taps = 1, extent = 1;
  std::int64_t step = 1, tap_step = 1, start = 0;

  /// The positions [first, end) at which tap t reads inside the source.
  std::pair<std::int64_t, std::int64_t> inside(std::int64_t t) const {
    std::int64_t const at = tap_step * t + start;
    std::int64_t const first = at >= 0 ? 0 : (-at + step - 1) / step;
    std::int64_t const end = at >= extent ? 0 : (extent - at + step - 1) / step;
    return {std::min(first, positions), std::clamp(end, std::min(first, positions), positions)};
  }
};

/// One convolution, or one part of a gradient of the input:
///
///     at_positions[n, g, q, b] = Σ over t, a of source[n, g, window(q, t), a] · at_taps[g, t, a, b]
///     at_taps[g, t, a, b]      = Σ over n, q of source[n, g, window(q, t), a] · at_positions[n, g, q, b]
///
/// Here `a` counts the channels of the source, and `b` counts those of the positions. Strides count elements.
struct window_sum {
  struct tensor {
    std::int64_t first = 0;  // offset of the first element
    std::int64_t image = 0, group = 0, a = 0, b = 0;
    std::int64_t spatial[max_spatial_dims] = {};
  };
  std::int64_t images = 1, groups = 1, a = 1, b = 1;
  window_dim dim[max_spatial_dims];
  tensor source, taps, positions;

  std::int64_t position_count() const { return images * dim[0].positions * dim[1].positions * dim[2].positions; }
  std::int64_t tap_count() const { return dim[0].taps * dim[1].taps * dim[2].taps; }
  std::int64_t depth() const { return tap_count() * a; }
  /// The offset in a tensor of position number i, counted over images and spatial dims.
  std::int64_t position_offset(tensor const& x, std::int64_t i) const {
    std::int64_t at = i % dim[2].positions * x.spatial[2];
    i /= dim[2].positions;
    at += i % dim[1].positions * x.spatial[1];
    i /= dim[1].positions;
    return at + i % dim[0].positions * x.spatial[0] + i / dim[0].positions * x.image;
  }
  /// The offset of row number i of the taps, counted over taps and channels a.
  std::int64_t tap_offset(std::int64_t i) const {
    std::int64_t at = i % a * taps.a;
    i /= a;
    at += i % dim[2].taps * taps.spatial[2];
    i /= dim[2].taps;
    return at + i % dim[1].taps * taps.spatial[1] + i / dim[1].taps * taps.spatial[0];
  }
};

namespace detail {

inline window_sum::tensor tensor_of(convolution_strides const& x, bool a_is_input, int dims) {
  window_sum::tensor t;
  t.image = x.image, t.group = x.group;
  t.a = a_is_input ? x.input_channel : x.output_channel;
  t.b = a_is_input ? x.output_channel : x.input_channel;
  for (int i = 0; i < dims; ++i) t.spatial[max_spatial_dims - dims + i] = x.spatial[i];
  return t;
}

/// Restricts `w` along one dim to the input positions with i % stride == phase, because they meet the same kernel
/// positions.
inline void take_phase(window_sum& w, int at, convolution_dim const& d, std::int64_t phase) {
  window_dim& x = w.dim[at];
  x.extent = d.output, x.step = 1;
  x.positions = d.input > phase ? (d.input - phase + d.stride - 1) / d.stride : 0;
  w.positions.first += phase * w.positions.spatial[at];
  w.positions.spatial[at] *= d.stride;
  auto const meets = [&](std::int64_t k) { return (phase + d.low - d.dilation * k) % d.stride == 0; };
  std::int64_t const every = d.stride / std::gcd(d.stride, d.dilation);
  std::int64_t first = 0;
  while (first < std::min(every, d.kernel) && !meets(first)) ++first;
  bool const any = first < std::min(every, d.kernel);
  x.taps = any ? (d.kernel - first + every - 1) / every : 0;
  if (!any) return;
  x.start = (phase + d.low - d.dilation * first) / d.stride;
  x.tap_step = -(d.dilation * every / d.stride);
  w.taps.first += first * w.taps.spatial[at];
  w.taps.spatial[at] *= every;
}

}  // namespace detail

/// The sums of an ordered problem. There is one sum, but for the gradient of an input with strides there is one for
/// each phase. Together they write every element of the result once.
inline std::vector<window_sum> window_sums_of(convolution_problem const& p) {
  bool const data = p.direction == convolution_direction::data;
  window_sum w;
  w.images = p.images, w.groups = p.groups;
  w.a = data ? p.output_channels : p.input_channels;
  w.b = data ? p.input_channels : p.output_channels;
  w.source = detail::tensor_of(data ? p.output : p.input, !data, p.dims);
  w.positions = detail::tensor_of(data ? p.input : p.output, !data, p.dims);
  w.taps = detail::tensor_of(p.kernel, !data, p.dims);
  int const before = max_spatial_dims - p.dims;
  if (!data) {
    for (int i = 0; i < p.dims; ++i) {
      convolution_dim const& d = p.dim[i];
      w.dim[before + i] = {d.output, d.kernel, d.input, d.stride, d.dilation, -d.low};
    }
    return {w};
  }
  std::vector<window_sum> all{w};
  for (int i = 0; i < p.dims; ++i) {
    std::vector<window_sum> split;
    for (window_sum const& one : all)
      for (std::int64_t phase = 0; phase < std::min(p.dim[i].stride, p.dim[i].input); ++phase) {
        split.push_back(one);
        detail::take_phase(split.back(), before + i, p.dim[i], phase);
      }
    all = std::move(split);
  }
  return all;
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
