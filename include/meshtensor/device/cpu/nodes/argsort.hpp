// SPDX-License-Identifier: Apache-2.0
// argsort: sorts rows in parallel, each on one thread.
#pragma once

#include <vector>

#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/sort.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class argsort_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<argsort_kernel>(s); }
  explicit argsort_kernel(node_setup const& s) : order_(static_cast<sort_order>(s.n.attribute[1])) {
    view const& y = s.result;
    int const along = y.find(s.n.attribute[0]);
    count_ = y.extent[along];
    for (int i = 0; i < along; ++i) outer_ *= y.extent[i];
    for (int i = along + 1; i < y.count; ++i) inner_ *= y.extent[i];
  }
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    if (count_ == 0) return;
    with_element(e.operands[0].type, [&]<class E>() {
      E const* const x = e.operands[0].as<E>();
      auto* const y = e.results[0].as<std::int64_t>();
      team.parallel_for(outer_ * inner_, std::max<std::int64_t>(1, 2048 / count_),
                        [&](std::int64_t first, std::int64_t last) {
                          std::vector<std::int64_t> positions(static_cast<std::size_t>(count_));
                          for (std::int64_t r = first; r < last; ++r) {
                            std::int64_t const at = r / inner_ * count_ * inner_ + r % inner_;
                            argsort_rule::sort(x + at, inner_, positions.data(), count_, order_);
                            for (std::int64_t i = 0; i < count_; ++i)
                              y[at + i * inner_] = positions[static_cast<std::size_t>(i)];
                          }
                        });
    });
  }

 private:
  sort_order order_;
  std::int64_t outer_ = 1, count_ = 0, inner_ = 1;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
