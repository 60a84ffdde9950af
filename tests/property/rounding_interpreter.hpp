// SPDX-License-Identifier: Apache-2.0
// An interpreter that rounds worse: shows how far a program's results are off by rounding alone.
#pragma once

#include <cmath>

#include "meshtensor/array/interpret.hpp"
#include "support/layouts.hpp"

namespace property {

namespace mt = meshtensor;

/// Multiplies every element of every result by 1 + r, where r is random and at most `size`.
class rounding_interpreter final : public mt::interpreter {
 public:
  rounding_interpreter(mt::module const& m, mt::binding const& numbers, double size)
      : interpreter(m, numbers), module_(m), size_(size) {}

  /// Whether finite numbers were multiplied or added up to one that is too large. A division by zero does not count.
  bool has_overflowed() const { return overflowed_; }

 private:
  void has_run(mt::node const& n, mt::run_context const&) override {
    overflowed_ = overflowed_ || overflows(n);
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

  bool is_finite(mt::value_id v) {
    mt::block const& b = at(v);
    if (!mt::is_float(b.type())) return true;
    for (std::int64_t i = 0; i < b.size(); ++i)
      if (!std::isfinite(b.number_at(i))) return false;
    return true;
  }
  bool overflows(mt::node const& n) {
    for (mt::function f : {mt::function::log, mt::function::sqrt, mt::function::rsqrt, mt::function::divide,
                           mt::function::modulo, mt::function::power})
      if (mt::applies(n, f)) return false;
    if (n.results.count != 1 || n.regions.count != 0 || is_finite(module_.result(n))) return false;
    for (int k = 0; k < n.operands.count; ++k)
      if (!is_finite(module_.operand(n, k))) return false;
    return n.operands.count != 0;
  }

  mt::module const& module_;
  double size_;
  bool overflowed_ = false;
  meshtensor_test::rng random_{1};
};

}  // namespace property
