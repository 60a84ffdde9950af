// SPDX-License-Identifier: Apache-2.0
// call: runs the user's function in parallel, each thread over a range of points.
#pragma once

#include "meshtensor/device/cpu/nodes/node_kernel.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class call_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const&) { return std::make_unique<call_kernel>(); }
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    call_row const& c = e.m.calls[call_of(e.n)];
    team.parallel_for(c.parts(e), 1, [&](std::int64_t first, std::int64_t last) { c.run(e, first, last); });
  }
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
