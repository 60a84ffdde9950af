// SPDX-License-Identifier: Apache-2.0
// Makes the Transformer's programs for replicas under a policy that the command line names.
#pragma once

#include <memory>

#include <meshtensor/job/job.hpp>

#include "learner.hpp"

namespace transformer {

/// The learner of `o.replicas` replicas, on the device that the options name. Losses of evaluations and samples of text
/// are those of the consensus.
///
/// errors  R76 the example was not built for the device
std::unique_ptr<learner> replicas_of(mt::store& weights, options const& o);

/// Prints the plan of their training. Returns the exit code.
int show_plan_of_replicas(mt::job const& job, options const& o);

}  // namespace transformer
