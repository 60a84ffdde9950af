// SPDX-License-Identifier: Apache-2.0
// argsort: sorts rows in parallel, each on one thread.
#pragma once

#include <vector>

#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/device/cpu/rows_along.hpp"
#include "meshtensor/op/argsort.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class argsort_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<argsort_kernel>(s); }
  explicit argsort_kernel(node_setup const& s)
      : order_(argsort_attributes::of(s.n).order), rows_(s.result, argsort_attributes::of(s.n).dim) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    with_element(e.operands[0].type, [&]<class E>() {
      E const* const x = e.operands[0].as<E>();
      auto* const y = e.results[0].as<std::int64_t>();
      team.parallel_for(rows_.number(), std::max<std::int64_t>(1, 2048 / rows_.count),
                        [&](std::int64_t first, std::int64_t last) {
                          std::vector<std::int64_t> positions(static_cast<std::size_t>(rows_.count));
                          for (std::int64_t r = first; r < last; ++r) {
                            std::int64_t const at = rows_.begin(r);
                            argsort_rule::sort(x + at, rows_.inner, positions.data(), rows_.count, order_);
                            for (std::int64_t i = 0; i < rows_.count; ++i)
                              y[at + i * rows_.inner] = positions[static_cast<std::size_t>(i)];
                          }
                        });
    });
  }

 private:
  sort_order order_;
  rows_along rows_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
