// SPDX-License-Identifier: Apache-2.0
// A row has one group: its result cannot have the dim of all groups.
// expect: T03 grouped_einsum: more than one of the operands and the result has the dim of the groups
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", layers, in, out);
    auto group = s.input("group", mt::i32, batch);
    s.output("y", grouped_einsum(x, w, group, layers, mt::to(batch, layers, out)));
  }
};
static_assert(is_accepted<step>);
