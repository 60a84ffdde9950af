// SPDX-License-Identifier: Apache-2.0
// bernoulli(s, p, to(batch)) of a tensor of probabilities.
// expect: T37 bernoulli takes a scope, a probability, which is a number
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/random.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", bernoulli(s / "u", x, mt::to(batch, in)));
  }
};
static_assert(is_accepted<step>);
