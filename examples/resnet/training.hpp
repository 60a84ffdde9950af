// SPDX-License-Identifier: Apache-2.0
// Trains a network, from its first step or from a checkpoint.
#pragma once

#include <optional>
#include <string>

#include <meshtensor/job/job.hpp>

#include "images.hpp"
#include "learner.hpp"

namespace resnet {

/// Updates until all images were learnt from `epochs` times, or as many as are wanted. An epoch need not end with a
/// batch: batches run on into the next one.
inline std::int64_t steps_of(options const& o, std::int64_t images) {
  return o.steps != 0 ? o.steps : (o.epochs * images + o.batch - 1) / o.batch;
}

/// Updates of an epoch, which need not be a whole number.
inline double steps_per_epoch(options const& o, std::int64_t images) {
  return static_cast<double>(images) / static_cast<double>(o.batch);
}

/// The epoch that the line behind this step is about: the last one that has ended, or that in which the training ends.
inline std::int64_t epoch_of(options const& o, std::int64_t images, std::int64_t step) {
  std::int64_t const ended = step * o.batch / images;
  return ended != (step - 1) * o.batch / images ? ended : ended + 1;
}

struct training {
  mt::job const& job;
  options const& o;
  images const& all;
  mt::store& weights;
  learner& by;

  /// Trains to the end. If it stops earlier, returns the reason.
  std::optional<std::string> run();
  /// The scores of the images that are not learnt from, each counted once.
  scores look() const;
};

/// `validation 1.2345  top-1 0.5000  top-5 0.8750  (32 and 56 of 64)`
std::string text_of(scores const& s);

}  // namespace resnet
