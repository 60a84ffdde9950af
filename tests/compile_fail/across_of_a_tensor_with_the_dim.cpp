// SPDX-License-Identifier: Apache-2.0
// Across is taken twice.
// expect: G43 across: the tensor has the dim already: rename it
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = mt::map(s / "examples", batch, x, [](mt::scope auto, auto one) {
      auto all = mt::across(one, batch);
      return one - mean(mt::across(all, batch), batch);
    });
    s.output("y", y);
  }
};
static_assert(is_accepted<step>);
