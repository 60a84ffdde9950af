// SPDX-License-Identifier: Apache-2.0
// A branch for the first steps only, chosen by the number of the step.
// expect: T27 a number has no value while the program is traced
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::cond(s, s.step() < 3, [&](auto) { return x; }, [&](auto) { return x * 2; }));
  }
};
static_assert(is_accepted<step>);
