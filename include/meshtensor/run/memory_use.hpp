// The memory of a process that runs a plan: what the plan says, and what is beside it.
#pragma once

#include <cstdint>

namespace meshtensor {

/// Bytes, of all processors of an executable that this process holds.
struct memory_use {
  std::int64_t planned = 0;    // for what a step makes, parameters and state, inputs
  std::int64_t workspace = 0;  // of kernels, of the libraries that they call, and of messages
  std::int64_t process = 0;    // code, libraries, plans, stacks, and whatever else the program has now

  std::int64_t all() const { return planned + workspace + process; }
};

}  // namespace meshtensor
