// SPDX-License-Identifier: Apache-2.0
// Measures the memory of a process that runs a plan, divided into that of the plan and the rest.
#pragma once

#include <cstdint>
#include <new>

#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/base/quantity.hpp"
#include "meshtensor/base/resident.hpp"
#include "meshtensor/pass/plan_memory.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// Bytes of all ranks of an executable that this process holds.
struct memory_use {
  std::int64_t planned = 0;    // arenas, parameters and state, inputs
  std::int64_t workspace = 0;  // of kernels, of libraries, of messages, and copies of values in libraries' formats
  std::int64_t process = 0;    // everything else: code, libraries, plans, stacks

  std::int64_t all() const { return planned + workspace + process; }
};

/// Runs `work`, which allocates for a plan. errors M10 not enough memory: how much the plan needs, and how much is left
inline void within_memory(plan const& p, function_ref<void()> work) {
  auto const sentence = [&]() {
    return error("M10", {"this rank needs ", bytes_text(p.arena_bytes + p.variable_bytes + p.input_bytes), " (",
                         bytes_text(p.arena_bytes), " for a step, ", bytes_text(p.variable_bytes),
                         " of parameters and state, ", bytes_text(p.input_bytes),
                         " of inputs) and what libraries take, but the system has ", bytes_text(available_bytes()),
                         " left: shard more dims, take a smaller batch, or start fewer ranks on this machine"});
  };
  try {
    work();
  } catch (std::bad_alloc const&) { throw sentence(); } catch (error const& e) {
    if (e.code() != "M10") throw;
    throw sentence();
  }
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
