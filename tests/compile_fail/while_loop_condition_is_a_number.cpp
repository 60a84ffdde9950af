// SPDX-License-Identifier: Apache-2.0
// A residual, as in `while (r)`.
// expect: T02 the condition of a loop is not a bool
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [count, last] =
        while_loop(s / "w", mt::at_most(3), [](auto, auto y) { return sum(y); }, [](auto, auto y) { return y * 2; }, x);
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
