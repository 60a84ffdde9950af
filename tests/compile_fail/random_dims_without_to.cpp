// SPDX-License-Identifier: Apache-2.0
// uniform(s, f32, batch).
// expect: T26 the dims of random numbers are in to
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x + uniform(s / "u", mt::f32, batch));
  }
};
static_assert(is_accepted<step>);
