// SPDX-License-Identifier: Apache-2.0
// scatter_add(x, index, to(out, in), out).
// expect: T37 scatter_add(x, index, along, mt::to(dims of the result)): the dim that the index
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto index = s.input("index", mt::i32, batch);
    s.output("y", scatter_add(x, index, mt::to(out, in), out));
  }
};
static_assert(is_accepted<step>);
