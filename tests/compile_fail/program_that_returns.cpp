// SPDX-License-Identifier: Apache-2.0
// forward() returns its result.
// expect: T23 a program returns nothing: s.output("y", y) gives a tensor out (f32[batch, in])
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr auto operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    return x * 2;
  }
};
static_assert(is_accepted<step>);
