// SPDX-License-Identifier: Apache-2.0
// A literal in the place of a tensor.
// expect: T11 a branch of cond returns tensors, several as a tuple
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::cond(s, sum(x) > 0, [&](auto) { return sum(x); }, [](auto) { return 0.0; }) + x);
  }
};
static_assert(is_accepted<step>);
