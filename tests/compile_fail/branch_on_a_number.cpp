// SPDX-License-Identifier: Apache-2.0
// if (n > 1), of a number that a run may set.
// expect: T27 a number has no value while the program is traced
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    if (s.number("n", 2) > 1) x = x * 2;
    s.output("y", x);
  }
};
static_assert(is_accepted<step>);
