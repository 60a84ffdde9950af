// SPDX-License-Identifier: Apache-2.0
// A loop as JAX has it, without a limit.
// expect: T37 while_loop takes the scope, mt::at_most(a limit), the condition, the body and then each carry, not
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [count, last] =
        while_loop(s / "w", [](auto, auto y) { return sum(y) < 1; }, [](auto, auto y) { return y * 2; }, x);
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
