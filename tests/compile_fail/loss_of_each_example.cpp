// SPDX-License-Identifier: Apache-2.0
// The loss has the dim of the batch.
// expect: T03 minimize: the loss has dims: take its sum or mean first (f32[batch])
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto loss = sum(einsum(x, w, mt::to(batch, out)), out);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};
static_assert(is_accepted<step>);
