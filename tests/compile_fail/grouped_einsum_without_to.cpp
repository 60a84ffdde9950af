// SPDX-License-Identifier: Apache-2.0
// The dims of the result stand in mt::to(...).
// expect: T26 grouped_einsum(x, matrices, index, groups, mt::to(dims of the result)): the dims of the result stand in
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", layers, in, out);
    auto group = s.input("group", mt::i32, batch);
    s.output("y", grouped_einsum(x, w, group, layers, batch, out));
  }
};
static_assert(is_accepted<step>);
