// SPDX-License-Identifier: Apache-2.0
// gradient(loss, w * 2), where w * 2 is written a second time.
// expect: G37 gradient: the loss was not computed from the tensor f32[in, out] made at gradient_of_
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto loss = mean(tanh(einsum(x, w * 2, mt::to(batch, out))));
    s.output("slope", gradient(loss, w * 2));
  }
};
static_assert(is_accepted<step>);
