// SPDX-License-Identifier: Apache-2.0
// transpose and broadcast: copy the operand with other strides.
#pragma once

#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class transpose_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<transpose_kernel>(s); }
  explicit transpose_kernel(node_setup const& s)
      : copy_(copy_by_name(s.operands[0], s.result, no_id, no_id, s.result.extent)) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    copy_.run(e.operands[0].data, e.results[0].data, &team);
  }

 private:
  strided_copy copy_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
