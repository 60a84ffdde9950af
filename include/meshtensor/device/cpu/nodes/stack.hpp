// SPDX-License-Identifier: Apache-2.0
// stack: copies each operand to its slice of the result.
#pragma once

#include <vector>

#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/stack.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class stack_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<stack_kernel>(s); }
  explicit stack_kernel(node_setup const& s) {
    view row = s.result;
    int const along = row.find(stack_attributes::of(s.n).dim);
    row.extent[along] = 1;
    bytes_ = row.stride[along] * static_cast<std::int64_t>(bytes_of(row.type));
    for (int k = 0; k < s.n.operands.count; ++k)
      copies_.push_back(copy_by_name(s.operands[k], row, no_id, no_id, row.extent));
  }
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    for (std::size_t k = 0; k < copies_.size(); ++k)
      copies_[k].run(e.operands[k].data, e.results[0].as<std::byte>() + static_cast<std::int64_t>(k) * bytes_, &team);
  }

 private:
  std::int64_t bytes_ = 0;
  std::vector<strided_copy> copies_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
