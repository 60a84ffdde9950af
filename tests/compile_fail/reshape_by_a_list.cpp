// SPDX-License-Identifier: Apache-2.0
// x.reshape({2, 3}).
// expect: T31 a tensor has no shape to change
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x.reshape({2, 3}));
  }
};
static_assert(is_accepted<step>);
