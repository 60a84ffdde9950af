// SPDX-License-Identifier: Apache-2.0
// mt::cast<mt::f32>(n).
// expect: T29 a number takes the dtype of the tensor beside it
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x * mt::cast<mt::f32>(s.number("n", 2)));
  }
};
static_assert(is_accepted<step>);
