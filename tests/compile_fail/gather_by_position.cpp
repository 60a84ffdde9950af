// SPDX-License-Identifier: Apache-2.0
// gather(x, index, 1).
// expect: T25 gather takes a table, a tensor of positions and the dim of the table that they count
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto index = s.input("index", mt::i32, batch);
    s.output("y", gather(x, index, 1));
  }
};
static_assert(is_accepted<step>);
