// SPDX-License-Identifier: Apache-2.0
// Trains the Transformer by its programs on any device, looks at held-out text and writes some.
#pragma once

#include <meshtensor/job/job.hpp>

#include "learner.hpp"

namespace transformer {

/// Returns the exit code: 1 where a bigram model is better.
///
/// errors  R40 the text of the library is not where it was; R42 the loss is not a number
int train(mt::job const& job, options const& o, learner_maker make);

}  // namespace transformer
