// SPDX-License-Identifier: Apache-2.0
// nn.Linear(6, 6): a dim cannot be mapped to itself.
// expect: T03 linear: the operand already has the dim that it maps to (f32[batch, in], 'in')
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::nn::linear(s / "square", x, in, in));
  }
};
static_assert(is_accepted<step>);
