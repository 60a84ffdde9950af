// SPDX-License-Identifier: Apache-2.0
// The body takes each slice as an argument of its own.
// expect: T11 the body of each and map takes the scope, then for each operand the slice that one index sees, as
// expect: arguments of their own (f32[in], f32[])
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = s.input("y", mt::f32, batch);
    auto z = mt::map(s / "examples", batch, std::tuple(x, y), [](mt::scope auto, auto xy) { return std::get<0>(xy); });
    s.output("z", z);
  }
};
static_assert(is_accepted<step>);
