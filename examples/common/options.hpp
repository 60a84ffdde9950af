// SPDX-License-Identifier: Apache-2.0
// Holds the values of the options that the large examples share, and the text that ends a command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ending.hpp"

namespace examples {

/// The options that every large example has. If a value is 0 or an empty text, the program chooses.
struct common_options {
  // ranks
  std::map<std::string, std::int64_t> mesh;
  std::int64_t threads = 0;
  std::string device;
  // training and checkpoints
  std::uint64_t seed = 1;
  std::string save;
  std::int64_t every = 100;
  bool resume = false;
  // modes
  std::string explain;  // empty, "plan", "instructions" or "html"
  std::string rates;    // for the page, or empty to measure them
  bool check = false, profile = false;
};

/// The options of an example that trains for many epochs, so that a training may take several runs.
struct long_training_options : common_options {
  double time_limit = 0;
  bool check_numerics = false;
};

}  // namespace examples
