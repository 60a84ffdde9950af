// SPDX-License-Identifier: Apache-2.0
// Each row has a condition of its own, but the loop ends for all.
// expect: T03 the condition of a loop has dims: reduce it with any or all
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [count, last] = while_loop(
        s / "w", mt::at_most(3), [](auto, auto y) { return sum(y, in) < 4; }, [](auto, auto y) { return y * 2; }, x);
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
