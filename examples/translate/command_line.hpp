// SPDX-License-Identifier: Apache-2.0
// The command line of the translating example.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace translation {

/// What can be chosen; 0 and an empty text leave it open.
struct options {
  std::string data, from = "en", into = "de", train = "train", valid = "val", test = "test_2016_flickr";
  std::string keep = "translate_out", size = "tiny";
  std::map<std::string, std::int64_t> mesh{{"data", 1}, {"model", 1}};
  std::int64_t epochs = 20, pieces = 8000, batch_tokens = 4096, longest = 48, buckets = 4;
  std::int64_t average = 4, score_every = 0, warmup = 2000, threads = 0;
  std::int64_t beam = 5, limit = 60, sentences = 64;
  double minutes = 0, learning_rate = 5e-3, dropout = 0.3, smoothing = 0.1;
  std::uint64_t seed = 1;
  bool explain = false, profile = false, check = false;
};

/// What is said instead of running, and the exit code.
struct ending {
  int code;
  std::string words;
};

/// Reads the command line. Gives an ending after --help (0) and after a mistake (2).
std::optional<ending> read_command_line(int argc, char** argv, options& o);

}  // namespace translation
