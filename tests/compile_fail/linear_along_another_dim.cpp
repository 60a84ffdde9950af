// SPDX-License-Identifier: Apache-2.0
// The dims of a layer in the wrong order.
// expect: T01 linear: the operand lacks the dim that it maps from (f32[batch, in], 'out')
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::nn::linear(s / "l", x, out, in));
  }
};
static_assert(is_accepted<step>);
