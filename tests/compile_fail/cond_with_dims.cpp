// SPDX-License-Identifier: Apache-2.0
// A branch for each row: that is select.
// expect: T03 cond: the predicate has dims: reduce it with any or all
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::cond(s / "sign", sum(x, in) > 0, [&](auto) { return x; }, [&](auto) { return -x; }));
  }
};
static_assert(is_accepted<step>);
