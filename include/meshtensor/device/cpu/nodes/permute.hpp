// SPDX-License-Identifier: Apache-2.0
// permute: copies the rows that the sources name, as gather does.
#pragma once

#include "meshtensor/device/cpu/nodes/gather.hpp"
#include "meshtensor/op/permute.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class permute_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<permute_kernel>(s); }
  explicit permute_kernel(node_setup const& s)
      : rows_(s.operands[0], s.operands[1], permute_rule::as_gathered(s.n, s.operands[1], s.result),
              permute_attributes::of(s.n).dim) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    gather_rows(rows_, e.operands[0], e.operands[1], e.results[0], team);
  }

 private:
  row_lookup rows_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
