// SPDX-License-Identifier: Apache-2.0
// The sum is a carry, too, and so is to be returned.
// expect: T11 the body of while_loop returns as many carries as it takes, several as a tuple
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [count, last, n] = while_loop(
        s / "w", mt::at_most(3), [](auto, auto, auto all) { return all < 4; }, [](auto, auto y, auto) { return y * 2; },
        x, sum(x));
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
