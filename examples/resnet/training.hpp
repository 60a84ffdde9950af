// SPDX-License-Identifier: Apache-2.0
// Trains a network, from its first step or from a checkpoint.
#pragma once

#include <optional>
#include <string>

#include <meshtensor/job/job.hpp>

#include "images.hpp"
#include "learner.hpp"

namespace resnet {

/// The number of updates until all images were used `epochs` times, or the number that the options give. An epoch need
/// not end with a batch, because a batch may continue into the next epoch.
inline std::int64_t steps_of(options const& o, std::int64_t images) {
  return o.steps != 0 ? o.steps : (o.epochs * images + o.batch - 1) / o.batch;
}

/// The number of updates in an epoch. It need not be whole.
inline double steps_per_epoch(options const& o, std::int64_t images) {
  return static_cast<double>(images) / static_cast<double>(o.batch);
}

/// The epoch that the line after this step reports. It has just ended, or the training ends in it.
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

  /// Trains to the end. If the training stops earlier, returns the reason.
  std::optional<std::string> run();
  /// The scores of the validation images. Each image counts once.
  scores look() const;
};

/// The text of scores, for example `validation 1.2345  top-1 0.5000  top-5 0.8750  (32 and 56 of 64)`
std::string text_of(scores const& s);

}  // namespace resnet
