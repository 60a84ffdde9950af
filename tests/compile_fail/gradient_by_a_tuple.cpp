// SPDX-License-Identifier: Apache-2.0
// gradient(loss, (w, v)).
// expect: T11 gradient takes the loss, then each tensor as an argument of its own (a tuple (f32[in, out],
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    s.output("y", gradient(mean(einsum(x, w, mt::to(batch, out))), std::tuple(w, x)));
  }
};
static_assert(is_accepted<step>);
