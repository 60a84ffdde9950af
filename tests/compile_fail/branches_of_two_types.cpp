// SPDX-License-Identifier: Apache-2.0
// A lambda gives a tensor of other dims than the other one.
// expect: T11 the branches of cond return different dims or dtypes
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::cond(s, sum(x) > 0, [&](auto) { return x; }, [&](auto) { return sum(x, in); }));
  }
};
static_assert(is_accepted<step>);
