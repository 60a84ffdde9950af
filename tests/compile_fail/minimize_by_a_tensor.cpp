// SPDX-License-Identifier: Apache-2.0
// minimize(scope, loss, w): the parameters to change are named by their scope.
// expect: T11 minimize: the third argument is the scope of the parameters to change, s / "network" (f32[in, out])
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    mt::sgd{}.minimize(s / "optimizer", mean(einsum(x, w, mt::to(batch, out))), w);
  }
};
static_assert(is_accepted<step>);
