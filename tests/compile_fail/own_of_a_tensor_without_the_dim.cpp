// SPDX-License-Identifier: Apache-2.0
// What one index sees already has no slice for it.
// expect: T01 own: the tensor lacks the dim (f32[in], 'batch')
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = mt::map(s / "examples", batch, x, [](mt::scope auto, auto one) { return mt::own(one, batch); });
    s.output("y", y);
  }
};
static_assert(is_accepted<step>);
