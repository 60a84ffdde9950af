// SPDX-License-Identifier: Apache-2.0
// w -= rate * g.
// expect: T33 a tensor is not changed in place: x = x + y makes another one, s.update(w, next) replaces a parameter
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto g = gradient(mean(einsum(x, w, mt::to(batch, out))), w);
    w -= g * 0.1;
  }
};
static_assert(is_accepted<step>);
