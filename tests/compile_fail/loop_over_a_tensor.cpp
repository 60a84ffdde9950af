// SPDX-License-Identifier: Apache-2.0
// for (auto row : x).
// expect: T32 a tensor has no elements to loop over
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    for (auto row : x) s.output("y", row);
  }
};
static_assert(is_accepted<step>);
