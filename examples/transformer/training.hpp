// SPDX-License-Identifier: Apache-2.0
// Trains the Transformer by its programs on any device, evaluates it on held-out text, and lets it write text.
#pragma once

#include <meshtensor/job/job.hpp>

#include "learner.hpp"

namespace transformer {

/// Trains and returns the exit code, which is 1 if a bigram model predicts held-out text at least as well.
///
/// errors  R40 the text of the library is not where it was; R42 the loss is not a number
int train(mt::job const& job, options const& o, learner_maker make);

}  // namespace transformer
