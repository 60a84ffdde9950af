// SPDX-License-Identifier: Apache-2.0
// Chooses how digits are made into batches, and how the learning rate falls.
#pragma once

#include <cmath>
#include <numbers>

#include <meshtensor/datasets/image/idx.hpp>
#include <meshtensor/datasets/image/image_range.hpp>
#include <meshtensor/datasets/image/image_stream.hpp>

namespace digits {

namespace mt = meshtensor;

/// Images to learn from, in a random order and moved by up to two pixels. `count` is the number in a step.
inline mt::datasets::image_options moved(std::int64_t count, std::uint64_t seed) {
  mt::datasets::image_options how{
      .rows = count, .height = 28, .width = 28, .seed = seed + 1, .crop = mt::datasets::image_crop::moved};
  how.most_moved = 2, how.flip = false, how.channels = 3, how.mean = {0.13f, 0.13f, 0.13f},
  how.deviation = {0.31f, 0.31f, 0.31f};
  return how;
}
/// Held-out images. `count` is the number in a step.
inline mt::datasets::image_options in_order(std::int64_t count = 50) {
  mt::datasets::image_options how = moved(count, 0);
  how.seed.reset(), how.shorter = 28;
  return how;
}
/// The learning rate after a share of the training: half of a cosine.
inline double rate_at(double done) { return 0.002 * (1 + std::cos(std::numbers::pi * done)) / 2; }

}  // namespace digits
