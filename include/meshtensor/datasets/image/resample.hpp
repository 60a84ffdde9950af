// SPDX-License-Identifier: Apache-2.0
// Resizes images with antialiasing. The filter is a triangle as wide as a pixel of the result, in whole numbers, so
// that every machine computes the same bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "meshtensor/base/parts.hpp"
#include "meshtensor/datasets/image/image.hpp"

namespace meshtensor::datasets {

namespace detail {

/// The weights with which a row of elements becomes `to` elements. For each element of the result, they say which
/// elements it sums, and with which weights, which add up to one. One is 2^22, so that sums of bytes fit in 32 bits.
///
/// source  the antialiased bilinear filter of Pillow (Image.resize), with bit-identical results
struct resample_weights {
  static constexpr int bits = 22;
  std::vector<interval> from;        // of each element of the result
  std::vector<std::int32_t> weight;  // [to, most]
  std::int64_t most = 0;

  /// Computes the weights for the elements of `part` alone.
  resample_weights(std::int64_t elements, std::int64_t to, interval part) {
    double const scale = static_cast<double>(elements) / static_cast<double>(to), reach = std::max(scale, 1.0);
    most = static_cast<std::int64_t>(std::ceil(reach)) * 2 + 1;
    weight.resize(static_cast<std::size_t>(part.count * most));
    std::vector<double> exact(static_cast<std::size_t>(most));
    for (std::int64_t i = 0; i < part.count; ++i) {
      double const centre = (static_cast<double>(part.begin + i) + 0.5) * scale;
      auto const begin = std::max<std::int64_t>(static_cast<std::int64_t>(centre - reach + 0.5), 0);
      auto const end = std::min(static_cast<std::int64_t>(centre + reach + 0.5), elements);
      double sum = 0;
      for (std::int64_t k = begin; k < end; ++k) {
        double const apart = std::abs((static_cast<double>(k) - centre + 0.5) * (1.0 / reach));
        sum += exact[static_cast<std::size_t>(k - begin)] = std::max(1.0 - apart, 0.0);
      }
      from.push_back({begin, end - begin});
      for (std::int64_t k = 0; k < end - begin; ++k)
        weight[static_cast<std::size_t>(i * most + k)] =
            static_cast<std::int32_t>(0.5 + exact[static_cast<std::size_t>(k)] / sum * (1 << bits));
    }
  }
  std::int32_t const* of(std::int64_t i) const { return weight.data() + i * most; }

  /// A sum of weighted bytes as a byte. Weights are not negative, but they are rounded, so their sum may slightly
  /// exceed one.
  static std::uint8_t byte(std::int32_t sum) { return static_cast<std::uint8_t>(std::min(sum >> bits, 255)); }
};

/// Sums neighbours within a row.
inline void resample_row(std::uint8_t const* from, resample_weights const& w, std::uint8_t* to) {
  for (std::size_t i = 0; i < w.from.size(); ++i, to += 3) {
    std::int32_t const* weight = w.of(static_cast<std::int64_t>(i));
    std::uint8_t const* pixel = from + w.from[i].begin * 3;
    std::int32_t red = 1 << (w.bits - 1), green = red, blue = red;
    for (std::int64_t k = 0; k < w.from[i].count; ++k, pixel += 3)
      red += weight[k] * pixel[0], green += weight[k] * pixel[1], blue += weight[k] * pixel[2];
    to[0] = w.byte(red), to[1] = w.byte(green), to[2] = w.byte(blue);
  }
}

/// Sums rows that are `stride` bytes apart.
inline void resample_rows(std::uint8_t const* from, std::int64_t stride, std::int32_t const* weight, std::int64_t rows,
                          std::uint8_t* to, std::int64_t bytes) {
  constexpr std::int64_t block = 16;  // held in registers
  for (std::int64_t at = 0; at < bytes; at += block) {
    std::int64_t const first = std::max<std::int64_t>(std::min(at, bytes - block), 0);  // the last block may overlap
    std::int64_t const count = std::min(block, bytes);
    std::array<std::int32_t, block> sum;
    sum.fill(1 << (resample_weights::bits - 1));
    for (std::int64_t k = 0; k < rows; ++k) {
      std::array<std::uint8_t, block> bytes_of_row{};
      std::memcpy(bytes_of_row.data(), from + k * stride + first, static_cast<std::size_t>(count));
      for (std::size_t c = 0; c < block; ++c) sum[c] += weight[k] * bytes_of_row[c];
    }
    for (std::int64_t c = 0; c < count; ++c) to[first + c] = resample_weights::byte(sum[static_cast<std::size_t>(c)]);
  }
}

}  // namespace detail

/// Resizes the part `box` of an image to `height` x `width`, but computes only `window` of the result. Pixels outside
/// of `box` have no influence. `rows` is workspace.
inline void resample(image const& from, image_box const& box, std::int64_t height, std::int64_t width,
                     image_box const& window, image& to, image& rows) {
  to.resize(window.height, window.width);
  if (window.height == 0 || window.width == 0) return;
  detail::resample_weights const across(box.width, width, {window.left, window.width});
  detail::resample_weights const down(box.height, height, {window.top, window.height});
  std::int64_t const first = down.from.front().begin, last = down.from.back().begin + down.from.back().count;
  rows.resize(last - first, window.width);
  for (std::int64_t y = first; y < last; ++y)
    detail::resample_row(from.row(box.top + y) + box.left * 3, across, rows.row(y - first));
  for (std::int64_t y = 0; y < window.height; ++y) {
    auto const [begin, count] = down.from[static_cast<std::size_t>(y)];
    detail::resample_rows(rows.row(begin - first), window.width * 3, down.of(y), count, to.row(y), window.width * 3);
  }
}
inline image resampled(image const& from, std::int64_t height, std::int64_t width) {
  image to, rows;
  resample(from, {0, 0, from.height, from.width}, height, width, {0, 0, height, width}, to, rows);
  return to;
}

}  // namespace meshtensor::datasets
