// SPDX-License-Identifier: Apache-2.0
// Reads the command line of the translation example.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "../common/ending.hpp"

namespace translation {

/// The values of the options. If a value is 0 or an empty text, the program chooses.
struct options {
  // texts
  std::string data, from = "en", into = "de", train = "train", valid = "val", test = "test_2016_flickr";
  std::string keep = "translate_out", vocabulary;
  std::int64_t pieces = 8000, longest = 48;
  // ranks
  std::map<std::string, std::int64_t> mesh{{"data", 1}, {"model", 1}};
  std::int64_t threads = 0;
  std::string device;
  // model and training
  std::string size = "tiny", dtype = "f32", optimizer = "adam";
  std::int64_t epochs = 20, batch_tokens = 3600, buckets = 20, length_multiple = 1, microbatches = 1, warmup = 2000;
  std::int64_t average = 4, score_every = 0;
  double learning_rate = 0, dropout = 0.3, smoothing = 0.1, clip_norm = 1;
  std::uint64_t seed = 1;
  // checkpoints
  std::string save, load, export_to;
  std::int64_t every = 100;
  bool resume = false;
  double time_limit = 0;
  // translating
  std::int64_t beam = 5, limit = 60, sentences = 64, top_k = 64;
  double length_penalty = 1, temperature = 1, top_p = 1;
  bool sample = false, interactive = false;
  // modes
  std::string explain;  // empty, "plan", "instructions" or "html"
  std::string rates;    // for the page, or empty to measure them
  bool profile = false, check = false, check_numerics = false;

  bool trains() const { return load.empty(); }
};

/// Reads the command line. Returns an ending after --help and after a mistake.
std::optional<examples::ending> read_command_line(int argc, char** argv, options& o);

}  // namespace translation
