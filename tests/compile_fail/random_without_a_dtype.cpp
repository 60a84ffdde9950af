// SPDX-License-Identifier: Apache-2.0
// uniform(s, to(batch)).
// expect: T24 random numbers take a dtype: uniform(s / "noise", mt::f32, mt::to(batch)) (a scope, to(batch))
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/random.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x + uniform(s / "u", mt::to(batch)));
  }
};
static_assert(is_accepted<step>);
