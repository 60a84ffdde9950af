// SPDX-License-Identifier: Apache-2.0
// Branches as functions without arguments.
// expect: T11 each branch of cond takes the scope alone
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::cond(s, sum(x) > 0, [&] { return x; }, [&] { return x * 2; }));
  }
};
static_assert(is_accepted<step>);
