// SPDX-License-Identifier: Apache-2.0
// minimize(loss).
// expect: T17 minimize takes a scope for the optimizer's state, then the loss
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in);
    mt::adam{}.minimize(mean(x * w));
  }
};
static_assert(is_accepted<step>);
