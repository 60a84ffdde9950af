// SPDX-License-Identifier: Apache-2.0
// A slice starts at an integer.
// expect: T02 slice: the start is not an integer
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", slice(x, in, out, sum(x)));
  }
};
static_assert(is_accepted<step>);
