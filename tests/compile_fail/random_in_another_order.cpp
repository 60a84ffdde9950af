// SPDX-License-Identifier: Apache-2.0
// normal(s, to(batch), f32).
// expect: T37 random numbers take a scope, a dtype and their dims, in this order
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/random.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x + normal(s / "u", mt::to(batch), mt::f32));
  }
};
static_assert(is_accepted<step>);
