// SPDX-License-Identifier: Apache-2.0
// cast(mt::i32, x).
// expect: T37 cast takes a tensor, then a dtype: cast(x, mt::f32)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", cast(mt::i32, x));
  }
};
static_assert(is_accepted<step>);
