// SPDX-License-Identifier: Apache-2.0
// Two optimizers of one loss.
// expect: G05 'w' is updated twice in one step, first at minimize_twice.cpp:11
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto loss = mean(einsum(x, w, mt::to(batch, out)));
    mt::sgd{.learning_rate = 0.1}.minimize(s / "first", loss);
    mt::sgd{.learning_rate = 0.2}.minimize(s / "second", loss);
  }
};
static_assert(is_accepted<step>);
