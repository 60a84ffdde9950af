// SPDX-License-Identifier: Apache-2.0
// all_to_all_rows: finds the places of rows on one thread, and copies rows in parallel.
#pragma once

#include <algorithm>

#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/detail/all_to_all_rows_rule.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class all_to_all_rows_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const& n) {
    row_step const step = all_to_all_rows_rule::step_of(n);
    return step == row_step::send || step == row_step::back;
  }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) {
    return takes(s.m, s.n) ? std::make_unique<all_to_all_rows_kernel>(s) : nullptr;
  }
  explicit all_to_all_rows_kernel(node_setup const& s)
      : back_(all_to_all_rows_rule::step_of(s.n) == row_step::back),
        rows_(all_to_all_rows_attributes::of(s.n).rows),
        copies_(back_ ? s.result : s.operands[0], s.operands[1], back_ ? s.operands[0] : s.result,
                all_to_all_rows_attributes::of(s.n).holders, rows_) {
    places_.reserve(s.operands[1].size(), s.operands[2].size());
  }
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    view const &x = e.operands[0], &index = e.operands[1], &y = e.results[0];
    places_.find(index, e.operands[2]);
    std::int64_t const each = std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, copies_.bytes_of_row()));
    team.parallel_for(index.size(), each, [&](std::int64_t first, std::int64_t last) {
      if (back_) copies_.back(y.data, x.data, places_, first, last);
      else copies_.send(x.data, y.data, places_, first, last);
    });
    if (!back_) copies_.fill_behind(y, rows_, places_.count);
  }

 private:
  bool back_;
  int rows_;
  meshtensor::detail::row_copies copies_;
  meshtensor::detail::row_places places_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
