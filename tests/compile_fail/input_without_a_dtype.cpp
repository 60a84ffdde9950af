// SPDX-License-Identifier: Apache-2.0
// s.input("x", batch, in).
// expect: T24 an input is declared with its dtype: s.input("x", mt::f32, batch, in)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", batch, in)); }
};
static_assert(is_accepted<step>);
