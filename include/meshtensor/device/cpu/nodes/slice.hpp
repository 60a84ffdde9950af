// SPDX-License-Identifier: Apache-2.0
// slice: copies from an offset and with a stride. Both may change in every step of the program.
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
  explicit slice_kernel(node_setup const& s) { prepare_step(s.n, s.operands[0], s.result, 1); }
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    view const& x = e.operands[0];
    auto const at = window_positions(e);
    if (at.step != step_) prepare_step(e.n, x, e.results[0], at.step);
    std::int64_t const first = at.first * x.stride[x.find(strided_window::of(e.n).from)];
    copy_.run(x.as<std::byte>() + first * static_cast<std::int64_t>(bytes_of(x.type)), e.results[0].data, &team);
  }

 private:
  void prepare_step(node const& n, view x, view const& y, std::int64_t step) {
    strided_window const a = strided_window::of(n);
    x.stride[x.find(a.from)] *= step, step_ = step;
    copy_ = copy_by_name(x, y, a.from, a.to, y.extent);
  }

  strided_copy copy_;
  std::int64_t step_ = 1;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
