// SPDX-License-Identifier: Apache-2.0
// full(s, 1, f32, batch, in).
// expect: T26 the dims of a tensor that is filled with a number are in to
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/full.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x + mt::full(s, 1, mt::f32, batch, in));
  }
};
static_assert(is_accepted<step>);
