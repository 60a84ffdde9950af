// SPDX-License-Identifier: Apache-2.0
// Trains a model, from its first step or from a checkpoint.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <meshtensor/job/job.hpp>

#include "learner.hpp"
#include "texts.hpp"

namespace translation {

struct training {
  mt::job const& job;
  options const& o;
  texts const& all;
  mt::store& weights;
  learner& by;
  std::function<std::string()> score;  // scores the validation part and returns the line to print

  /// Trains to the end of the last epoch, and sets the parameters to the mean of the last epochs. If the training stops
  /// earlier, returns the reason.
  std::optional<std::string> run();
  /// The loss of the validation part in nats per word.
  double look() const;
};

}  // namespace translation
