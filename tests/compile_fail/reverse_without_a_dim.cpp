// SPDX-License-Identifier: Apache-2.0
// flip(x).
// expect: T25 reverse(x, length) reverses the elements along one dim
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/shift.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", reverse(x));
  }
};
static_assert(is_accepted<step>);
