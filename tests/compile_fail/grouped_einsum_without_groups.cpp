// SPDX-License-Identifier: Apache-2.0
// Nothing has the dim along which the index chooses.
// expect: T01 grouped_einsum: neither an operand nor the result has the dim of the groups
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto group = s.input("group", mt::i32, batch);
    s.output("y", grouped_einsum(x, w, group, layers, mt::to(batch, out)));
  }
};
static_assert(is_accepted<step>);
