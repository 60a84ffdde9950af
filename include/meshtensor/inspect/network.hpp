// SPDX-License-Identifier: Apache-2.0
// The ranks of a job as a prediction sees them: the network between them, their speeds, and their pauses.
#pragma once

#include <cstdint>
#include <vector>

#include "meshtensor/base/philox.hpp"
#include "meshtensor/mesh/link.hpp"

namespace meshtensor {

/// The network between the ranks of a mesh. Each rank has a link of its own for each mesh axis, which carries one
/// message in and one message out at a time. The latency of a message keeps no link busy.
///
///     mt::network const tcp{{{"data", 50e-6, 1.25e9}}};  // 50 µs a message, 10 Gbit/s
struct network {
  std::vector<link> links{};   // one for each mesh axis
  std::vector<name> shared{};  // mesh axes along which all ranks share one link, which carries one message at a time
  bool sends_wait = false;     // whether a message begins only if its receiver has reached it, too, and its sender
                               // waits until it has arrived. Otherwise it is kept for a receiver that is late
};

/// How ranks differ from each other: their speeds, and pauses at random. A rank draws before each step whether it
/// pauses. The draw depends on the seed, the step and the rank alone.
///
///     mt::stragglers const sometimes{.probability = 0.01, .steps = 1};  // one step in a hundred takes twice as long
struct stragglers {
  std::vector<double> speeds{};  // of each rank, as a factor of the rates. If there are none, all are 1
  double probability = 0;        // of a pause of a rank before a step
  double seconds = 0,
         steps = 0;  // the length of a pause: seconds, plus so many times what the rank computes in this step
  std::uint64_t seed = 0;

  /// Whether a rank pauses before a step.
  constexpr bool pauses(std::int64_t step, int rank) const {
    random_stream const drawn({seed, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(step)}, 0);
    return random_uniform<double>(drawn, 0) < probability;
  }
};

}  // namespace meshtensor
