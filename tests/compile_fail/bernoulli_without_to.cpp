// SPDX-License-Identifier: Apache-2.0
// bernoulli(s, 0.5, batch).
// expect: T26 bernoulli takes a scope, a probability, which is a number, and the dims in to
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", select(bernoulli(s / "u", 0.5, batch), x, 0));
  }
};
static_assert(is_accepted<step>);
