// SPDX-License-Identifier: Apache-2.0
// Groups are numbered by integers.
// expect: T02 grouped_einsum: the index is not an integer
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", layers, in, out);
    s.output("y", grouped_einsum(x, w, sum(x, in), layers, mt::to(batch, out)));
  }
};
static_assert(is_accepted<step>);
