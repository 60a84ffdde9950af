// SPDX-License-Identifier: Apache-2.0
// The condition and the body take the scope first.
// expect: T11 the condition and the body of while_loop take the scope, then each carry as an argument of its own
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto start = sum(x) + sum(w);
    auto [count, last] =
        mt::while_loop(s / "w", mt::at_most(3), [](auto y) { return y < 4; }, [](auto y) { return y * 2; }, start);
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
