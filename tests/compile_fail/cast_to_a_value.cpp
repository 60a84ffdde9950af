// SPDX-License-Identifier: Apache-2.0
// cast(x, mt::dtype::i32).
// expect: T24 cast takes a tensor, then a dtype: cast(x, mt::f32) (f32[batch, in], a value of mt::dtype)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", cast(x, mt::dtype::i32));
  }
};
static_assert(is_accepted<step>);
