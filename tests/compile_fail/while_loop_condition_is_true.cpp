// SPDX-License-Identifier: Apache-2.0
// while (true), up to a limit.
// expect: T28 the condition of a loop is a bool of C++, which is known before the program runs: return one of tensors
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [count, last] =
        while_loop(s / "w", mt::at_most(3), [](auto, auto) { return true; }, [](auto, auto y) { return y * 2; }, x);
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
