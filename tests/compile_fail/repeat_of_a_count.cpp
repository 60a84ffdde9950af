// SPDX-License-Identifier: Apache-2.0
// repeat(s, 3, x, body).
// expect: T25 a loop takes a scope, the dim that counts its iterations
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", repeat(s / "layers", 3, x, [](auto, auto h) { return h; }));
  }
};
static_assert(is_accepted<step>);
