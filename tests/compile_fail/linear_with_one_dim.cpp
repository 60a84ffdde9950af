// SPDX-License-Identifier: Apache-2.0
// linear(s, x, out): from where is missing.
// expect: T18 linear takes a scope, x, the dim that it maps from and the one that it maps to
// expect:  (f32[batch, in], 'out')
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::nn::linear(s / "l", x, out));
  }
};
static_assert(is_accepted<step>);
