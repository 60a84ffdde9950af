// SPDX-License-Identifier: Apache-2.0
// cumulative_sum: computes rows in parallel; along an outer dim, runs of adjacent elements together.
#pragma once

#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/cumulative_sum.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class cumulative_sum_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) {
    return std::make_unique<cumulative_sum_kernel>(s);
  }
  /// Operand and result are dense, with the same dims: `outer` blocks of `count` rows of `inner` elements.
  explicit cumulative_sum_kernel(node_setup const& s) : which_(cumulative_sum_rule::of(s.n)) {
    view const& y = s.result;
    int const along = y.find(s.n.attribute[0]);
    count_ = y.extent[along];
    for (int i = 0; i < along; ++i) outer_ *= y.extent[i];
    for (int i = along + 1; i < y.count; ++i) inner_ *= y.extent[i];
  }
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    if (count_ == 0) return;
    with_element(e.results[0].type, [&]<class E>() {
      E const* const x = e.operands[0].as<E>();
      E* const y = e.results[0].as<E>();
      std::int64_t const runs = (inner_ + width - 1) / width;
      std::int64_t const grain = std::max<std::int64_t>(1, 16384 / (count_ * std::min(inner_, width)));
      team.parallel_for(outer_ * runs, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r) {
          std::int64_t const from = r % runs * width, at = r / runs * count_ * inner_ + from;
          sum_up(x + at, y + at, std::min(width, inner_ - from));
        }
      });
    });
  }

 private:
  static constexpr std::int64_t width = 64;  // sums that one thread accumulates together
  template <class E>
  void sum_up(E const* x, E* y, std::int64_t elements) const {
    sum_t<E> sums[width] = {};
    for (std::int64_t i = 0; i < count_; ++i) {
      std::int64_t const at = (which_.reverse ? count_ - 1 - i : i) * inner_;
      for (std::int64_t k = 0; k < elements; ++k) {
        sum_t<E> const next = sums[k] + static_cast<sum_t<E>>(x[at + k]);
        y[at + k] = static_cast<E>(which_.exclusive ? sums[k] : next);
        sums[k] = next;
      }
    }
  }

  cumulative which_;
  std::int64_t outer_ = 1, count_ = 0, inner_ = 1;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
