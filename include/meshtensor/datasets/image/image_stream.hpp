// SPDX-License-Identifier: Apache-2.0
// Batches of images one after the other, from any position on. Threads make them while a step runs.
#pragma once

#include <cstdint>
#include <optional>

#include "meshtensor/datasets/image/image_batches.hpp"
#include "meshtensor/datasets/prefetched.hpp"

namespace meshtensor::datasets {

/// The batches of a set of images from a position on. A program calls `next()` once a step. To continue after a stop, a
/// training needs only `position()`, one number, even if it continues with another batch size or other ranks.
class image_stream {
 public:
  struct options {
    int threads = 2;  // 0: a batch is made when it is asked for
    int ahead = 2;    // batches that may wait
  };
  /// `all` must outlive it. errors R92 there is no such part or position
  explicit image_stream(image_batches const& all, image_part const& mine = {}, std::int64_t position = 0,
                        options const& o = {2, 2})
      : all_(all), mine_(mine), o_(o) {
    seek(position);
  }

  /// The next batch, or this rank's part of it. It is valid until the next call. errors R60 an image in it is damaged
  image_batch const& next() {
    position_ += all_.options().rows;
    return batches_->next();
  }
  /// The number of images, over all epochs, before the next batch.
  std::int64_t position() const { return position_; }
  /// Whether every image has come. It is always false if the images come in a random order, because that has no end.
  bool at_end() const { return !all_.options().seed && position_ >= all_.size(); }
  /// Moves forward or back to a position. 0 is the first image.
  void seek(std::int64_t position) {
    if (position < 0) throw error("R92", {"there is no position ", position, " in a set of images: they count from 0"});
    batches_.reset();
    position_ = position;
    batches_.emplace(
        [this, position](std::int64_t number, image_batch& to) {
          all_.read(position + number * all_.options().rows, to, mine_);
        },
        0, o_.threads, o_.ahead);
  }

 private:
  image_batches const& all_;
  image_part mine_;
  options o_;
  std::int64_t position_ = 0;
  std::optional<prefetched<image_batch>> batches_;
};

}  // namespace meshtensor::datasets
