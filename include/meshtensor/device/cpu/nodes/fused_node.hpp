// SPDX-License-Identifier: Apache-2.0
// Runs a fused kernel: binds its numbers and random streams, then launches its tiles.
#pragma once

#include "meshtensor/device/cpu/fused/cutting.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class fused_node final : public node_kernel {
 public:
  fused_kernel kernel;

  std::int64_t workspace_bytes() const override { return kernel.workspace_bytes(); }
  void run(evaluation const& e, std::byte* workspace, thread_team& team) override {
    descriptor const& d = kernel.key();
    launch_arguments a;
    for (int i = 0; i < d.operand_count; ++i) a.memory[i] = static_cast<std::byte*>(e.operands[i].data);
    for (int i = 0; i < d.result_count; ++i)
      a.memory[first_result_stream + i] = static_cast<std::byte*>(e.results[i].data);
    for (int i = 0; i < d.number_count; ++i) a.numbers[i] = e.context.numbers[kernel.reading.numbers[i]];
    for (int c = d.operand_count + d.result_count; c < kernel.stream_count; ++c) {
      int const i = kernel.streams[c] - first_step_stream;
      if (!is_random(d.step(i).kind)) continue;
      node const& n = e.m.nodes[kernel.reading.makers[i]];
      a.random[i] = random_stream(random_key{e.context.seed, identity_of(e.m, n), e.context.step}, e.context.iteration);
    }
    launch(kernel, a, workspace, team);
  }
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
