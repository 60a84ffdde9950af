// SPDX-License-Identifier: Apache-2.0
// shift: copies the runs of elements that stay together, and fills the other elements.
#pragma once

#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/shift.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class shift_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const&) { return std::make_unique<shift_kernel>(); }
  /// The number by which it shifts may differ from step to step, so nothing is prepared.
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    view const &x = e.operands[0], &y = e.results[0];
    shift_attributes const a = shift_attributes::of(e.n);
    auto const how = static_cast<shift_kind>(e.n.function);
    int const along = y.find(a.dim);
    meshtensor::positions const at{whole_number(e.context.numbers[a.first])};
    auto const bytes = static_cast<std::int64_t>(bytes_of(y.type));
    interval const all{0, y.extent[along]};
    if (count_shifted(how, at, all.count, all, all) != all.count)
      with_element(y.type, [&]<class E>() {
        constexpr std::int64_t nowhere[max_dims_of_one] = {};
        E const element = element_of<E>(e.context.numbers[a.around]);
        strided_copy(y, nowhere, y.extent, bytes).run(&element, y.data, &team);
      });
    each_run(how, at, all.count, all, all, [&](shifted_run const& r) {
      view from = x, to = y;
      from.stride[along] *= r.from_step, to.extent[along] = r.count;
      copy_by_name(from, to, no_id, no_id, to.extent)
          .run(x.as<std::byte>() + r.from * x.stride[along] * bytes, y.as<std::byte>() + r.to * y.stride[along] * bytes,
               &team);
    });
  }
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
