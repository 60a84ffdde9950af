// SPDX-License-Identifier: Apache-2.0
// Reads the command line of the Transformer example.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "../common/options.hpp"
#include "../common/regime_options.hpp"

namespace transformer {

/// The options beside those of all large examples. If a value is 0 or an empty text, the program chooses.
struct options : examples::common_options, examples::regime_options {
  std::string text, dot, prompt = "The ", trace, tensorboard;
  std::string program, choices;  // the command itself, and its options that the loss depends on
  std::int64_t batch = 0, length = 64, layers = 4, d_model = 128, heads = 0, d_head = 0, d_ff = 0;
  std::int64_t steps = 0, warmup = 100, evaluations = 10, sample_bytes = 100;
  double minutes = 0, learning_rate = 2e-3, dropout = 0, temperature = 0.7;
  bool dot_nodes = false;

  bool plan_only() const { return !explain.empty() || !dot.empty(); }
};

/// Reads the command line. Returns an ending after --help and after a mistake.
std::optional<examples::ending> read_command_line(int argc, char** argv, options& o);

/// Completes the mesh. Axes that are not given follow from the number of ranks, or have two ranks each if `ranks` is 0.
void complete_mesh(options& o, int ranks);
/// Completes the sizes of the model with small ones that the mesh divides.
void complete_sizes(options& o);

}  // namespace transformer
