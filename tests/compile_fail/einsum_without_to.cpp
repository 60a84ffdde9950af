// SPDX-License-Identifier: Apache-2.0
// The dims of the result are a list.
// expect: T26 einsum takes tensors and the dims of its result: einsum(x, w, mt::to(a, b))
// expect: 'batch', 'out'
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    s.output("y", einsum(x, w, batch, out));
  }
};
static_assert(is_accepted<step>);
