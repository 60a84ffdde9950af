// SPDX-License-Identifier: Apache-2.0
// pad: fills the result with a number, then copies the operand into it.
#pragma once

#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/pad.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class pad_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<pad_kernel>(s); }
  explicit pad_kernel(node_setup const& s)
      : around_(s.result, nowhere, s.result.extent, static_cast<std::int64_t>(bytes_of(s.result.type))) {
    prepare_step(s.n, s.operands[0], s.result, 1);
  }
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    view const& y = e.results[0];
    with_element(y.type, [&]<class E>() {
      E const element = element_of<E>(e.context.numbers[pad_attributes::of(e.n).around]);
      around_.run(&element, y.data, &team);
    });
    auto const at = pad_rule::positions_in(e);
    if (at.step != step_) prepare_step(e.n, e.operands[0], y, at.step);
    std::int64_t const first = at.first * y.stride[y.find(pad_attributes::of(e.n).to)];
    part_.run(e.operands[0].data, y.as<std::byte>() + first * static_cast<std::int64_t>(bytes_of(y.type)), &team);
  }

 private:
  static constexpr std::int64_t nowhere[max_dims_of_one] = {};  // strides of 0, which repeat one element
  void prepare_step(node const& n, view const& x, view y, std::int64_t step) {
    pad_attributes const a = pad_attributes::of(n);
    y.stride[y.find(a.to)] *= step, step_ = step;
    part_ = copy_by_name(x, y, a.from, a.to, x.extent);
  }

  strided_copy part_, around_;
  std::int64_t step_ = 1;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
