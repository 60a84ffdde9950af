// SPDX-License-Identifier: Apache-2.0
// Chooses the part of an image that a network sees: random crops for training, and the centre for evaluation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "meshtensor/base/exponential.hpp"
#include "meshtensor/base/philox.hpp"
#include "meshtensor/datasets/image/image.hpp"

namespace meshtensor::datasets {

/// A view of an image. The part `from` of the image is resized to `height` x `width` pixels, of which `window` is seen.
struct image_view {
  image_box from;
  std::int64_t height = 0, width = 0;
  image_box window;
};

/// The bounds of a random crop: its share of the image's area, and its width divided by its height.
struct crop_bounds {
  double least_area = 0.08, most_area = 1, least_aspect = 3.0 / 4, most_aspect = 4.0 / 3;
};

namespace detail {
/// Rounds to the nearest whole number, and ties to even.
inline std::int64_t nearest_whole(double x) { return static_cast<std::int64_t>(std::nearbyint(x)); }
inline double drawn_between(double low, double high, std::uint32_t word) {
  return low + (high - low) * static_cast<double>(word) * 0x1p-32;
}
/// A uniform random number from 0 to `last`.
inline std::int64_t drawn_up_to(std::int64_t last, std::uint32_t word) {
  return static_cast<std::int64_t>(static_cast<double>(last + 1) * (static_cast<double>(word) * 0x1p-32));
}
}  // namespace detail

/// A part with random area, aspect and position. If ten tries do not fit, it is the middle of the image, with an aspect
/// as near to the bounds as possible.
///
/// source  Szegedy et al., Going deeper with convolutions, CVPR 2015
inline image_box random_crop(random_stream const& random, std::int64_t height, std::int64_t width,
                             crop_bounds const& bounds = {}) {
  double const area = static_cast<double>(height * width);
  double const low = math::log(bounds.least_aspect), high = math::log(bounds.most_aspect);
  for (std::uint64_t i = 0; i < 10; ++i) {
    auto const words = random.words(i);
    double const mine = area * detail::drawn_between(bounds.least_area, bounds.most_area, words[0]);
    double const aspect = math::exp(detail::drawn_between(low, high, words[1]));
    std::int64_t const w = detail::nearest_whole(std::sqrt(mine * aspect)),
                       h = detail::nearest_whole(std::sqrt(mine / aspect));
    if (w > 0 && h > 0 && w <= width && h <= height)
      return {detail::drawn_up_to(height - h, words[2]), detail::drawn_up_to(width - w, words[3]), h, w};
  }
  double const aspect = static_cast<double>(width) / static_cast<double>(height);
  std::int64_t h = height, w = width;
  if (aspect < bounds.least_aspect)
    h = std::clamp<std::int64_t>(detail::nearest_whole(static_cast<double>(w) / bounds.least_aspect), 1, height);
  if (aspect > bounds.most_aspect)
    w = std::clamp<std::int64_t>(detail::nearest_whole(static_cast<double>(h) * bounds.most_aspect), 1, width);
  return {(height - h) / 2, (width - w) / 2, h, w};
}

/// The middle `crop_height` x `crop_width` pixels of the image, whose shorter side is resized to `shorter` first.
///
/// errors  R93 the resized image is smaller than its crop
inline image_view centre_crop(std::int64_t height, std::int64_t width, std::int64_t shorter, std::int64_t crop_height,
                              std::int64_t crop_width) {
  image_view v{{0, 0, height, width}, shorter, shorter, {0, 0, crop_height, crop_width}};
  auto const longer = [&](std::int64_t one, std::int64_t other) {
    return static_cast<std::int64_t>(static_cast<double>(shorter * one) / static_cast<double>(other));
  };
  if (height > width) v.height = longer(height, width);
  else v.width = longer(width, height);
  if (v.height < crop_height || v.width < crop_width)
    throw error("R93", {"an image of ", width, " x ", height, " pixels, resized to ", v.width, " x ", v.height,
                        ", has no middle of ", crop_width, " x ", crop_height, ": resize to more, or crop less"});
  v.window.top = detail::nearest_whole(static_cast<double>(v.height - crop_height) / 2);
  v.window.left = detail::nearest_whole(static_cast<double>(v.width - crop_width) / 2);
  return v;
}

}  // namespace meshtensor::datasets
