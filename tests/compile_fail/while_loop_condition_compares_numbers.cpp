// SPDX-License-Identifier: Apache-2.0
// A loop in the first steps only.
// expect: T27 a number has no value while the program is traced
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [count, last] = while_loop(
        s / "w", mt::at_most(3), [](auto inside, auto) { return inside.step() < 3; },
        [](auto, auto y) { return y * 2; }, x);
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
