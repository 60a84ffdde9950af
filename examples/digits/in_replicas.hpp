// SPDX-License-Identifier: Apache-2.0
// Trains replicas of the network that reads digits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <meshtensor/job/job.hpp>

#include "../common/regime_options.hpp"

namespace digits {

namespace mt = meshtensor;

/// The options of the command line.
struct options {
  std::string images, labels;
  int epochs = 12;
  std::uint64_t seed = 0;
  std::vector<examples::regime_options> regimes;  // none if one model is trained. Several are compared
  std::int64_t batch = 0, steps = 0;              // of a replica; in place of epochs
  std::string rates, curves;                      // of a rank; the file of the picture
};

/// Trains replicas under each policy of `o.regimes`, on as many ranks as were started. Each replica learns from `batch`
/// images in a step: from 50, or from fewer if there are not as many. After each epoch, their mean reads the held-out
/// images. Several policies are compared by their losses against predicted seconds. Returns the exit code.
int train_replicas(mt::job const& job, std::string const& device, options const& o);

}  // namespace digits
