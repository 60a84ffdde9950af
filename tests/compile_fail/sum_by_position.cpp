// SPDX-License-Identifier: Apache-2.0
// x.sum(dim=1).
// expect: T25 sum: a reduction takes a tensor and its dims, as sum(x, a, b)
// expect: (f32[batch, in], a number)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", sum(x, 1));
  }
};
static_assert(is_accepted<step>);
