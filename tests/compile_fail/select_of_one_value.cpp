// SPDX-License-Identifier: Apache-2.0
// select(x > 0, x).
// expect: T37 select takes a tensor of bools, then two values: select(x > 0, x, 0)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", select(x > 0, x));
  }
};
static_assert(is_accepted<step>);
