// SPDX-License-Identifier: Apache-2.0
// pow(x, 2).
// expect: T10 a power is power(x, 2)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", pow(x, 2));
  }
};
static_assert(is_accepted<step>);
