// SPDX-License-Identifier: Apache-2.0
// Reads the command line of the translation example.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "../common/options.hpp"

namespace translation {

/// The options beside those of all large examples. If a value is 0 or an empty text, the program chooses.
struct options : examples::long_training_options {
  // texts
  std::string data, from = "en", into = "de", train = "train", valid = "val", test = "test_2016_flickr";
  std::string keep = "translate_out", vocabulary;
  std::int64_t pieces = 8000, longest = 48;
  // model and training
  std::string size = "tiny", dtype = "f32", optimizer = "adam";
  std::int64_t epochs = 20, batch_tokens = 3600, buckets = 20, length_multiple = 1, microbatches = 1, warmup = 2000;
  std::int64_t average = 4, score_every = 0;
  double learning_rate = 0, dropout = 0.3, smoothing = 0.1, clip_norm = 1;
  // checkpoints
  std::string load, export_to;
  // translating
  std::int64_t beam = 5, limit = 60, sentences = 64, top_k = 64;
  double length_penalty = 1, temperature = 1, top_p = 1;
  bool sample = false, interactive = false;

  options() { mesh = {{"data", 1}, {"model", 1}}; }
  bool trains() const { return load.empty(); }
};

/// Reads the command line. Returns an ending after --help and after a mistake.
std::optional<examples::ending> read_command_line(int argc, char** argv, options& o);

}  // namespace translation
