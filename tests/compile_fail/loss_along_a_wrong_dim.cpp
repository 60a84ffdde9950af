// SPDX-License-Identifier: Apache-2.0
// What comes first is said first: the dim, not the loss.
// expect: T01 mean: the operand lacks a dim (f32[batch, out], 'batch', 'in')
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto loss = mean(einsum(x, w, mt::to(batch, out)), batch, in);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};
static_assert(is_accepted<step>);
