// SPDX-License-Identifier: Apache-2.0
// number(0.5, "rate").
// expect: T19 a number is declared by its name first
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x * s.number(0.5, "rate"));
  }
};
static_assert(is_accepted<step>);
