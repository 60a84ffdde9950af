// SPDX-License-Identifier: Apache-2.0
// positions * 0.5.
// expect: T02 0.5 is not an integer, but stands beside a tensor of i32: cast the tensor to a float
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto halves = iota(s, in, mt::i32) * 0.5;
    s.output("y", einsum(x * mt::cast<mt::dtype::f32>(halves), w, mt::to(batch, out)));
  }
};
static_assert(is_accepted<step>);
