// SPDX-License-Identifier: Apache-2.0
// A slice of one's own is taken over another dim than that of the each.
// expect: G45 own: no each or map over 'batch' is open here
// expect: own_outside_of_an_each.cpp:11)
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = mt::map(s / "parts", layers, [&](mt::scope auto) { return mt::own(x, batch); });
    s.output("y", y);
  }
};
static_assert(is_accepted<step>);
