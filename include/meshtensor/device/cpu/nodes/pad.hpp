// SPDX-License-Identifier: Apache-2.0
// pad: fills the result with a number, then copies the operand into it.
#pragma once

#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/slice.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class pad_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<pad_kernel>(s); }
  explicit pad_kernel(node_setup const& s)
      : part_(copy_by_name(s.operands[0], s.result, pad_attributes::of(s.n).from, pad_attributes::of(s.n).to,
                           s.operands[0].extent)),
        around_(s.result, nowhere, s.result.extent, static_cast<std::int64_t>(bytes_of(s.result.type))) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    view const& y = e.results[0];
    with_element(y.type, [&]<class E>() {
      E const element = element_of<E>(e.context.numbers[pad_attributes::of(e.n).around]);
      around_.run(&element, y.data, &team);
    });
    std::int64_t const first = pad_rule::start_of(e) * static_cast<std::int64_t>(bytes_of(y.type));
    part_.run(e.operands[0].data, y.as<std::byte>() + first, &team);
  }

 private:
  static constexpr std::int64_t nowhere[max_dims_of_one] = {};  // strides of 0, which repeat one element
  strided_copy part_, around_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
