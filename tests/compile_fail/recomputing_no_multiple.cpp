// SPDX-License-Identifier: Apache-2.0
// A limit of 10 is no multiple of 4.
// expect: G38 a while_loop of at_most(...).recomputing(4) has a limit that is no multiple of that
// expect: as in at_most(1024).recomputing(32)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto start = sum(s.input("x", mt::f32, batch, in));
    auto [count, last] = while_loop(
        s / "w", mt::at_most(10).recomputing(4), [](auto, auto y) { return y < 4; }, [](auto, auto y) { return y * 2; },
        start);
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
