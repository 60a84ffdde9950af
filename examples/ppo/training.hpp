// SPDX-License-Identifier: Apache-2.0
// Trains a policy, and lets it play at the end.
#pragma once

#include <meshtensor/job/job.hpp>

#include "command_line.hpp"

namespace ppo {

/// Trains and returns the exit code, which is 1 if the score at the end is below the goal.
///
/// errors  R42 the loss is not a number; R43 the curve cannot be written
int train(meshtensor::job const& job, options const& o);

}  // namespace ppo
