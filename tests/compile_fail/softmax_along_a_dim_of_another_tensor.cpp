// SPDX-License-Identifier: Apache-2.0
// The dim of the classes was summed already.
// expect: T01 softmax: the operand lacks the dim (f32[batch], 'in')
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", softmax(sum(x, in), in));
  }
};
static_assert(is_accepted<step>);
