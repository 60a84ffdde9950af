// SPDX-License-Identifier: Apache-2.0
// The part has the dim of the slice that it overwrites.
// expect: T01 put: the part lacks the dim of the slice
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", put(x, sum(x, in), in, out, argmax(x, in)));
  }
};
static_assert(is_accepted<step>);
