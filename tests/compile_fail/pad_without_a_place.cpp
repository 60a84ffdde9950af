// SPDX-License-Identifier: Apache-2.0
// pad(x, in, length).
// expect: T37 pad(x, rows, wide, first, around) gives a dim another extent
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/pad.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", pad(x, in, length));
  }
};
static_assert(is_accepted<step>);
