// SPDX-License-Identifier: Apache-2.0
// s.output(y).
// expect: T19 an output is declared by its name first: s.output("y", y)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output(x * 2);
  }
};
static_assert(is_accepted<step>);
