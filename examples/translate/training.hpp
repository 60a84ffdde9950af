// SPDX-License-Identifier: Apache-2.0
// The training of a model, from its first step or from where an earlier run has left it.
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
  std::function<std::string()> score;  // of the validation part: the line that is printed

  /// Trains to the end of the last epoch and puts the mean of the last ones in the place of the parameters. If it was
  /// asked to leave earlier, what asked.
  std::optional<std::string> run();
  /// Nats a word of the validation part.
  double look() const;
};

}  // namespace translation
