// SPDX-License-Identifier: Apache-2.0
// normal(f32, to(batch)).
// expect: T17 random numbers take a scope first
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x);
    normal(mt::f32, mt::to(batch));
  }
};
static_assert(is_accepted<step>);
