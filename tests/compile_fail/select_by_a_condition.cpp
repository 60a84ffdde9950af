// SPDX-License-Identifier: Apache-2.0
// select(true, x, 0).
// expect: T28 select takes a tensor of bools, then two values
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", select(true, x, 0));
  }
};
static_assert(is_accepted<step>);
