// SPDX-License-Identifier: Apache-2.0
// The body takes the scope first.
// expect: T11 the body of each and map takes the scope, then for each operand the slice that one index sees, as
// expect: arguments of their own (f32[in])
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::map(s / "examples", batch, x, [](auto one) { return sum(one); }));
  }
};
static_assert(is_accepted<step>);
