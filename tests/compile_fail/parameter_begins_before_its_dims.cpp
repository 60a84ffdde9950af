// SPDX-License-Identifier: Apache-2.0
// The initializer stands behind the dims.
// expect: T37 a parameter is declared by its name, its dims and at last, if wanted, an initializer
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x * s.parameter("w", mt::zeros, in));
  }
};
static_assert(is_accepted<step>);
