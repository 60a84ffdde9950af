// SPDX-License-Identifier: Apache-2.0
// Rows change their order along a dim of the tensor.
// expect: T01 permute: the operand lacks the dim
#include "meshtensor/op/permute.hpp"

#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", permute(x, layers, iota(s, layers, mt::i32)));
  }
};
static_assert(is_accepted<step>);
