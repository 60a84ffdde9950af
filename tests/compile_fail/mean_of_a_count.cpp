// SPDX-License-Identifier: Apache-2.0
// mean() of integers.
// expect: T04 mean takes a tensor of floats: cast the operand (i32[batch])
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto n = s.input("n", mt::i32, batch);
    s.output("y", mean(n));
  }
};
static_assert(is_accepted<step>);
