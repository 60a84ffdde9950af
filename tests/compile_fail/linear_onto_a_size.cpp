// SPDX-License-Identifier: Apache-2.0
// linear(s, x, in, 4).
// expect: T18 linear takes a scope, x, the dim that it maps from
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::nn::linear(s / "l", x, in, 4));
  }
};
static_assert(is_accepted<step>);
