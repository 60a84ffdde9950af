// SPDX-License-Identifier: Apache-2.0
// A convolution, forward or a gradient, prepared once and then run without our allocating memory, on the threads of a
// team:
//
//     convolution_problem p;                                // convolution_problem.hpp: extents, strides, padding
//     p.direction = convolution_direction::forward;
//     convolution_plan plan(p, team.size());                // chooses an implementation
//     arena scratch(plan.workspace_bytes());
//     plan.execute(input, kernel, output, scratch.data(), &team);
//
// The operands are those that the direction reads, the result is what it names:
//
//     forward   execute(input,  kernel, output)
//     data      execute(output, kernel, input)    // of gradients: dy, k -> dx
//     weights   execute(input,  output, kernel)   // x, dy -> dk
#pragma once

#include <cstddef>
#include <string>

#include "meshtensor/device/cpu/convolution_loops.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// See convolution_problem for extents and strides. All elements of the result are written, and nothing else; sums of
/// nothing are 0.
///
/// errors  R30 see check(convolution_problem)
class convolution_plan {
 public:
  /// `threads`: the size of the team passed to execute.
  explicit convolution_plan(convolution_problem const& problem, int threads = 1) {
    check(problem);
    if (problem.result_elements() == 0) return;
    some_ = true;
    loops_ = convolution_loops(ordered(problem), threads);
  }

  /// The workspace that execute needs; it must start at a multiple of 64.
  std::size_t workspace_bytes() const { return loops_.workspace_bytes(); }
  /// The implementation: "loops" or "nothing".
  std::string implementation() const { return some_ ? "loops" : "nothing"; }

  /// Runs the convolution. One thread calls at a time; those of `team` share the work.
  void execute(void const* a, void const* b, void* result, void* workspace, thread_team* team = nullptr) {
    if (some_) loops_.execute(a, b, result, workspace, team);
  }

 private:
  convolution_loops loops_;
  bool some_ = false;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
