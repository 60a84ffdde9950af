// SPDX-License-Identifier: Apache-2.0
// Trains replicas of the network that reads digits.
#pragma once

#include <cstdint>
#include <string>

#include <meshtensor/job/job.hpp>

#include "../common/regime_options.hpp"

namespace digits {

namespace mt = meshtensor;

/// The options of the command line.
struct options {
  std::string images, labels;
  int epochs = 12;
  std::uint64_t seed = 0;
  examples::regime_options regime;
};

/// Trains `o.regime.replicas` replicas on as many ranks as were started. Each learns from 50 images in a step. After
/// each epoch, their mean reads the held-out images. Returns the exit code.
int train_replicas(mt::job const& job, std::string const& device, options const& o);

}  // namespace digits
