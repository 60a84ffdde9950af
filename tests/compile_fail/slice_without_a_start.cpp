// SPDX-License-Identifier: Apache-2.0
// slice(x, in, out).
// expect: T37 slice(x, length, part, first) takes a part along one dim
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", slice(x, in, out));
  }
};
static_assert(is_accepted<step>);
