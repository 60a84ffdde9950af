// SPDX-License-Identifier: Apache-2.0
// What the indices have together is known in their body alone.
// expect: G45 across: no each or map over 'layers' is open here
// expect: across_outside_of_an_each.cpp:11)
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::across(x, layers));
  }
};
static_assert(is_accepted<step>);
