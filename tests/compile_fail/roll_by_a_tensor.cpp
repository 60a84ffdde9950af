// SPDX-License-Identifier: Apache-2.0
// A tensor is rolled by a number, not by a tensor.
// expect: T37 roll(x, ring, 1) moves the elements along one dim by a number
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/shift.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", roll(x, in, s.input("by", mt::i32)));
  }
};
static_assert(is_accepted<step>);
