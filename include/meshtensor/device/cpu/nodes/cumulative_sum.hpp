// SPDX-License-Identifier: Apache-2.0
// cumulative_sum: computes rows in parallel. Along an outer dim, it computes runs of adjacent elements together.
#pragma once

#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/device/cpu/rows_along.hpp"
#include "meshtensor/op/cumulative_sum.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class cumulative_sum_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) {
    return std::make_unique<cumulative_sum_kernel>(s);
  }
  /// Operand and result are dense and have the same dims.
  explicit cumulative_sum_kernel(node_setup const& s)
      : which_(cumulative_sum_attributes::of(s.n).which), rows_(s.result, cumulative_sum_attributes::of(s.n).dim) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    with_element(e.results[0].type, [&]<class E>() {
      E const* const x = e.operands[0].as<E>();
      E* const y = e.results[0].as<E>();
      std::int64_t const runs = (rows_.inner + width - 1) / width;
      std::int64_t const grain = std::max<std::int64_t>(1, 16384 / (rows_.count * std::min(rows_.inner, width)));
      team.parallel_for(rows_.outer * runs, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r) {
          std::int64_t const from = r % runs * width, at = rows_.begin(r / runs * rows_.inner + from);
          sum_up(x + at, y + at, std::min(width, rows_.inner - from));
        }
      });
    });
  }

 private:
  static constexpr std::int64_t width = 64;  // sums that one thread accumulates together
  template <class E>
  void sum_up(E const* x, E* y, std::int64_t elements) const {
    wide_sum<E> sums[width] = {};
    for (std::int64_t i = 0; i < rows_.count; ++i) {
      std::int64_t const at = (which_.reverse ? rows_.count - 1 - i : i) * rows_.inner;
      for (std::int64_t k = 0; k < elements; ++k) {
        E const term = x[at + k];
        if (which_.exclusive) y[at + k] = sums[k].value();
        sums[k].add(term);
        if (!which_.exclusive) y[at + k] = sums[k].value();
      }
    }
  }

  cumulative which_;
  rows_along rows_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
