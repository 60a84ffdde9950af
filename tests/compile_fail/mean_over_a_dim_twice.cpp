// SPDX-License-Identifier: Apache-2.0
// mean(x, batch, batch).
// expect: T42 mean: one dim is named twice
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mean(x, batch, batch));
  }
};
static_assert(is_accepted<step>);
