// SPDX-License-Identifier: Apache-2.0
// The body of an each declares a parameter by the scope of the program, twice.
// expect: G04 'w' belongs to the program's own scope, but is used in the scope 'members': use the scope
// expect: use the scope that the body takes there as its first argument, or declare it before
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

inline constexpr struct member : mt::dim<"member", 3> {} member;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::each(s / "members", member, [&](mt::scope auto) { return x * s.parameter("w", in); }));
  }
};
static_assert(is_accepted<step>);
