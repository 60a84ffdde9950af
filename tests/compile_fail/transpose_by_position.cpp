// SPDX-License-Identifier: Apache-2.0
// x.transpose(0, 1) has no dims by name.
// expect: T26 transpose names the dims of its result: transpose(x, mt::to(b, a))
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", transpose(x, 0, 1));
  }
};
static_assert(is_accepted<step>);
