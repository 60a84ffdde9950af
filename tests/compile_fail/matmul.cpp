// SPDX-License-Identifier: Apache-2.0
// matmul(x, w).
// expect: T35 a product of matrices is einsum(x, w, mt::to(batch, out))
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    s.output("y", matmul(x, w));
  }
};
static_assert(is_accepted<step>);
