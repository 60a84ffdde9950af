// SPDX-License-Identifier: Apache-2.0
// Reads the command line of the image example.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "../common/options.hpp"
#include "../common/regime_options.hpp"

namespace resnet {

/// The options beside those of all large examples. If a value is 0 or an empty text, the program chooses.
struct options : examples::long_training_options, examples::regime_options {
  // images
  std::string data = "synthetic", train = "train", valid = "val";
  std::int64_t size = 224, count = 512, classes = 10, readers = 2;
  bool skip_damaged = false;
  // model and training
  int depth = 50;
  std::int64_t width = 64;
  std::string dtype = "f32", optimizer = "nesterov", schedule = "cosine", falls = "30,60,80";
  std::int64_t epochs = 90, batch = 32, microbatches = 1, steps = 0;
  double learning_rate = 0, warmup = 5, momentum = 0.9, weight_decay = 1e-4, smoothing = 0.1, average = 0;
  std::string keep = "resnet_out";
  std::int64_t print_every = 0;
  // checkpoints
  std::string load, export_to;
  // modes
  bool evaluate = false, counts = false;

  /// The three epochs at which the learning rate falls to a tenth.
  std::array<double, 3> fall_epochs{};

  options() { mesh = {{"data", 1}, {"rows", 1}, {"cols", 1}, {"model", 1}}; }
};

/// Reads the command line. Returns an ending after --help and after a mistake.
std::optional<examples::ending> read_command_line(int argc, char** argv, options& o);

}  // namespace resnet
