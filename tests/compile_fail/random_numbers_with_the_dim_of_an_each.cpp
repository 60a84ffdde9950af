// SPDX-License-Identifier: Apache-2.0
// Each index draws its own numbers, so the dim is not named.
// expect: G44 random numbers in an each over 'batch' have this dim, but each index draws its own: leave the dim out, or
// expect: rename it to mt::dim<"other", batch + 0>
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/random.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = mt::map(s / "examples", batch, x, [](mt::scope auto m, auto one) {
      return sum(one) + sum(mt::uniform(m / "noise", mt::f32, mt::to(batch)));
    });
    s.output("y", y);
  }
};
static_assert(is_accepted<step>);
