// SPDX-License-Identifier: Apache-2.0
// The complete topology: every worker gets the values of all others in each round.
#pragma once

#include "meshtensor/regime/topology.hpp"

namespace meshtensor {

/// All workers send to all others, so every worker has the mean after one round. It is the reference of all other
/// topologies. A `mean` over the dim of the workers costs less.
struct complete {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int n) { return n - 1; }
  static constexpr edge incoming(int n, std::int64_t, int worker, int slot) {
    return {(worker + 1 + slot) % n, 1.0 / n};
  }
  static constexpr double kept(int n, std::int64_t, int) { return 1.0 / n; }
};

}  // namespace meshtensor
