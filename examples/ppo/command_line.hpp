// SPDX-License-Identifier: Apache-2.0
// Reads the command line of the example PPO.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "../common/options.hpp"

namespace ppo {

/// The options beside those of all large examples. If a number is 0, the task chooses it.
struct options : examples::common_options {
  std::string task = "cart_pole", dtype = "f32", curve;
  std::int64_t updates = 0, environments = 16, steps = 128, epochs = 0, minibatches = 4, episodes = 100;
  std::int64_t print_every = 10;
  double learning_rate = 0, gamma = 0, lambda = 0.95, clip = 0.2, entropy_weight = 0, value_weight = 0.5;
  double clip_norm = 0.5, goal = 0;
};

/// Reads the command line. Returns an ending after --help and after a mistake.
std::optional<examples::ending> read_command_line(int argc, char** argv, options& o);

/// Completes the mesh. By default all ranks are along data.
void complete_mesh(options& o, int ranks);

}  // namespace ppo
