// SPDX-License-Identifier: Apache-2.0
// map(s, x, batch, body).
// expect: T25 each and map take a scope, the dim of their indices, then tensors and their body
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::map(s / "examples", x, batch, [](auto, auto one) { return sum(one); }));
  }
};
static_assert(is_accepted<step>);
