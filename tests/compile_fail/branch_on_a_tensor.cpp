// SPDX-License-Identifier: Apache-2.0
// if (loss > 1): the value is not known while the program is traced.
// expect: T27 a tensor has no value while the program is traced: select(condition, a, b) chooses for each element
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    if (sum(x) > 0) x = x * 2;
    s.output("y", x);
  }
};
static_assert(is_accepted<step>);
