// SPDX-License-Identifier: Apache-2.0
// An interpreter that rounds worse: shows how far a program's results are off by rounding alone.
#pragma once

#include "meshtensor/array/interpret.hpp"
#include "support/layouts.hpp"

namespace property {

namespace mt = meshtensor;

/// Multiplies every element of every result by 1 + r, where r is random and at most `size`.
class rounding_interpreter final : public mt::interpreter {
 public:
  rounding_interpreter(mt::module const& m, mt::binding const& numbers, double size)
      : interpreter(m, numbers), module_(m), size_(size) {}

 private:
  void has_run(mt::node const& n, mt::run_context const&) override {
    bool const computes = n.regions.count == 0 && n.kind != mt::primitive::input && n.kind != mt::primitive::read;
    if (size_ == 0 || !computes) return;
    for (int k = 0; k < n.results.count; ++k) {
      mt::block& b = at(module_.result(n, k));
      if (!mt::is_float(b.type())) continue;
      for (std::int64_t i = 0; i < b.size(); ++i) {
        double const unit = static_cast<double>(random_.next() >> 11) / 9007199254740992.0;
        b.set(i, b.number_at(i) * (1 + size_ * (2 * unit - 1)));
      }
    }
  }

  mt::module const& module_;
  double size_;
  meshtensor_test::rng random_{1};
};

}  // namespace property
