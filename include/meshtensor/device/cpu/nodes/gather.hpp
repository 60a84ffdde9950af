// SPDX-License-Identifier: Apache-2.0
// gather: binds the row loops of device/cpu/lookup.hpp to a node.
#pragma once

#include "meshtensor/device/cpu/lookup.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/detail/lookup.hpp"
#include "meshtensor/op/gather.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class gather_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<gather_kernel>(s); }
  explicit gather_kernel(node_setup const& s)
      : rows_(s.operands[0], s.operands[1], s.result, lookup_attributes::of(s.n).dim) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    rows_.gather(e.operands[0], e.operands[1], e.results[0], team);
  }

 private:
  row_lookup rows_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
