// SPDX-License-Identifier: Apache-2.0
// stack(x, x, pair).
// expect: T37 stack takes a list of tensors, then the new dim
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/stack.hpp"

inline constexpr struct pair : mt::dim<"pair", 2> {} pair;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", stack(x, x, pair));
  }
};
static_assert(is_accepted<step>);
