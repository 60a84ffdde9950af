// SPDX-License-Identifier: Apache-2.0
// where(x > 0, x, 0).
// expect: T35 a choice for each element is select(condition, a, b)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", where(x > 0, x, 0));
  }
};
static_assert(is_accepted<step>);
