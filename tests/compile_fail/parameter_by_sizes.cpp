// SPDX-License-Identifier: Apache-2.0
// nn.Parameter(torch.empty(6, 4)).
// expect: T25 a parameter is declared by its name, its dims
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x * s.parameter("w", 6, 4));
  }
};
static_assert(is_accepted<step>);
