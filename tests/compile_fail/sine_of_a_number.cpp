// SPDX-License-Identifier: Apache-2.0
// sin(n) of a number.
// expect: T29 numbers have + - * /, sqrt, rsqrt, exp, log, cos, pow, maximum and minimum
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x * sin(s.number("n", 2)));
  }
};
static_assert(is_accepted<step>);
