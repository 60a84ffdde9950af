// SPDX-License-Identifier: Apache-2.0
// A scope that is misspelt.
// expect: G28 moving_average finds no parameter of dtype f32 declared before it in the scope 'nett'
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    s.output("y", einsum(x, w, mt::to(batch, out)));
    mt::moving_average{}.follow(s / "average", s / "nett");
  }
};
static_assert(is_accepted<step>);
