// SPDX-License-Identifier: Apache-2.0
// output("both", std::tuple(x, y)).
// expect: T22 an output is a tensor or a number, one for each name
#include <tuple>

#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("both", std::tuple(x, x * 2));
  }
};
static_assert(is_accepted<step>);
