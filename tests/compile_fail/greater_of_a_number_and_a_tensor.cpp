// SPDX-License-Identifier: Apache-2.0
// max(0, x).
// expect: T35 max is a reduction, max(x, vocab); of two operands there is maximum(a, b) (a number, f32[batch, in])
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", max(0, x));
  }
};
static_assert(is_accepted<step>);
