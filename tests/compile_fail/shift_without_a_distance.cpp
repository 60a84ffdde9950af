// SPDX-License-Identifier: Apache-2.0
// shift(x, in).
// expect: T37 shift(x, length, 1, around) moves the elements along one dim by a number
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/shift.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", shift(x, in));
  }
};
static_assert(is_accepted<step>);
