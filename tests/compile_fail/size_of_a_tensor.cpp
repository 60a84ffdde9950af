// SPDX-License-Identifier: Apache-2.0
// x.shape and x.size(0).
// expect: T31 the extent of a dim is a number, extent(batch)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x / s.number("n", 1));
    x.size(0);
  }
};
static_assert(is_accepted<step>);
