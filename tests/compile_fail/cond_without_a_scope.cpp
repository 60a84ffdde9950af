// SPDX-License-Identifier: Apache-2.0
// jax.lax.cond(predicate, f, g).
// expect: T17 cond takes a scope first: mt::cond(s / "sign", sum(x) > 0,
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::cond(sum(x) > 0, [&](auto) { return x; }, [&](auto) { return x * 2; }));
  }
};
static_assert(is_accepted<step>);
