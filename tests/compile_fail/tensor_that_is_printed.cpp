// SPDX-License-Identifier: Apache-2.0
// print(x).
// expect: T27 a tensor has no value while the program is traced: s.watch("y", y) lets one look at it in each step
#include <iostream>

#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    std::cerr << x;
  }
};
static_assert(is_accepted<step>);
