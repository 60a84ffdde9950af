// SPDX-License-Identifier: Apache-2.0
// A parameter is declared as an input is.
// expect: T20 a parameter has the dtype of its program, which mt::precision<program, mt::bf16> sets: leave it out
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, in);
    s.output("y", mt::einsum(x, s.parameter("k", s.real(), in, out), mt::to(batch, out)));
  }
};
static_assert(is_accepted<step>);
