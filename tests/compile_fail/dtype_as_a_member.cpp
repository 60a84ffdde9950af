// SPDX-License-Identifier: Apache-2.0
// x.to(mt::i32).
// expect: T30 operations are functions: cast(x, mt::f32) changes the dtype
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x.to(mt::i32));
  }
};
static_assert(is_accepted<step>);
