// SPDX-License-Identifier: Apache-2.0
// output("rate", rate).
// expect: T10 an output is a tensor: a number becomes one beside a tensor
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("rate", s.number("rate", 0.5));
    s.output("y", x);
  }
};
static_assert(is_accepted<step>);
