// SPDX-License-Identifier: Apache-2.0
// The results of all indices are put together along the dim, so one result lacks it.
// expect: T44 the body of each and map returns a tensor that has their dim already: reduce over the dim, or rename it
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = mt::map(s / "examples", batch, x, [](mt::scope auto, auto one) { return mt::across(one, batch); });
    s.output("y", y);
  }
};
static_assert(is_accepted<step>);
