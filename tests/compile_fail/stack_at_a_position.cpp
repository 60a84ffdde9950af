// SPDX-License-Identifier: Apache-2.0
// stack((x, x), 0).
// expect: T25 stack takes a list of tensors, then the new dim
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/stack.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", stack(std::tuple(x, x), 0));
  }
};
static_assert(is_accepted<step>);
