// SPDX-License-Identifier: Apache-2.0
// scatter_add: adds rows into zeros by the row loops of device/cpu/lookup.hpp. Any number of threads adds the rows in
// their order.
#pragma once

#include "meshtensor/device/cpu/lookup.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/detail/lookup.hpp"
#include "meshtensor/op/scatter_add.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class scatter_add_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<scatter_add_kernel>(s); }
  explicit scatter_add_kernel(node_setup const& s)
      : rows_(s.result, s.operands[1], s.operands[0], lookup_attributes::of(s.n).dim),
        bytes_(rows_.bytes_of_sums(s.result, s.threads)) {}
  std::int64_t workspace_bytes() const override { return bytes_; }
  void run(evaluation const& e, std::byte* workspace, thread_team& team) override {
    rows_.scatter_add(e.operands[0], e.operands[1], e.results[0], workspace, team);
  }

 private:
  row_lookup rows_;
  std::int64_t bytes_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
