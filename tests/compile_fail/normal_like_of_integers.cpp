// SPDX-License-Identifier: Apache-2.0
// Random numbers like a tensor of integers would be integers.
// expect: T04 random numbers are floats: cast them
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/random.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::i32, batch, in);
    s.output("y", x + normal_like(s / "noise", x));
  }
};
static_assert(is_accepted<step>);
