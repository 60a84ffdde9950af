// SPDX-License-Identifier: Apache-2.0
// loss.backward().
// expect: T34 gradients are part of the program: gradient(loss, w), or mt::sgd{}.minimize(s / "optimizer", loss)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    mean(einsum(x, w, mt::to(batch, out))).backward();
  }
};
static_assert(is_accepted<step>);
