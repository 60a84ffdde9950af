// SPDX-License-Identifier: Apache-2.0
// slice: copies from an offset that may change with every step.
#pragma once

#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/slice.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class slice_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<slice_kernel>(s); }
  explicit slice_kernel(node_setup const& s)
      : copy_(copy_by_name(s.operands[0], s.result, slice_attributes::of(s.n).from, slice_attributes::of(s.n).to,
                           s.result.extent)) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    std::int64_t const first = slice_rule::start_of(e) * static_cast<std::int64_t>(bytes_of(e.operands[0].type));
    copy_.run(e.operands[0].as<std::byte>() + first, e.results[0].data, &team);
  }

 private:
  strided_copy copy_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
