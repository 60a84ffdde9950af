// SPDX-License-Identifier: Apache-2.0
// instance_norm(s, x, in, batch, batch).
// expect: T42 instance_norm: one dim is named twice
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::nn::instance_norm(s / "norm", x, in, batch, batch));
  }
};
static_assert(is_accepted<step>);
