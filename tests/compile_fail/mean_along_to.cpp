// SPDX-License-Identifier: Apache-2.0
// Dims of a reduction stand without to.
// expect: T25 mean: a reduction takes a tensor and its dims, as sum(x, a, b), without to
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mean(x, mt::to(batch, in)));
  }
};
static_assert(is_accepted<step>);
