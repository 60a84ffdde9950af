// SPDX-License-Identifier: Apache-2.0
// nn.Parameter has no name, here it has.
// expect: T19 a parameter is declared by its name first
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x * s.parameter(in));
  }
};
static_assert(is_accepted<step>);
