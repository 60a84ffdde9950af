// SPDX-License-Identifier: Apache-2.0
// select(x > 0, 1, 0).
// expect: T29 select: one of the two values is a tensor, the other takes its dtype
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", select(x > 0, 1, 0));
  }
};
static_assert(is_accepted<step>);
