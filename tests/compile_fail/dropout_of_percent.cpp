// SPDX-License-Identifier: Apache-2.0
// A rate is a share, not percent.
// expect: T51 dropout: the rate, the share of elements that become zero, is from 0 to 1
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::nn::dropout(s / "drop", x, 10));
  }
};
static_assert(is_accepted<step>);
