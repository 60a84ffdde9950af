// SPDX-License-Identifier: Apache-2.0
// Trains replicas of the network that reads digits.
#pragma once

#include <string>

#include <meshtensor/job/job.hpp>

#include "../common/regime_options.hpp"

namespace digits {

namespace mt = meshtensor;

/// Trains `o.replicas` replicas, each of which learns from 50 images in a step, on as many ranks as were started. After
/// each epoch their mean reads the held-out images. Returns the exit code.
int train_replicas(mt::job const& job, std::string const& device, examples::regime_options const& o,
                   std::string const& images, std::string const& labels, int epochs);

}  // namespace digits
