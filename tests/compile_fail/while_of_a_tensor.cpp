// SPDX-License-Identifier: Apache-2.0
// while (f > 1e-9): the value is not known while the program is traced.
// expect: mt::cond takes one of two branches, mt::while_loop repeats a body
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto f = sum(s.input("x", mt::f32, batch, in));
    while (f > 1e-9) f = f * 0.5;
    s.output("y", f);
  }
};
static_assert(is_accepted<step>);
