// SPDX-License-Identifier: Apache-2.0
// The prediction has a dim that the target lacks.
// expect: T03 mean_squared_error: the prediction and the target have other dims
// expect: (f32[batch, out], f32[batch])
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto t = s.input("t", mt::f32, batch);
    s.output("loss", mt::nn::mean_squared_error(einsum(x, w, mt::to(batch, out)), t));
  }
};
static_assert(is_accepted<step>);
