// SPDX-License-Identifier: Apache-2.0
// number("rate").
// expect: T21 a number is declared with the value that it has until it is set
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x * s.number("rate"));
  }
};
static_assert(is_accepted<step>);
