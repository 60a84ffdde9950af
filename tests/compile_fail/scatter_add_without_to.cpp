// SPDX-License-Identifier: Apache-2.0
// The dims of the result stand in mt::to(...).
// expect: T26 scatter_add(x, index, along, mt::to(dims of the result)): the dims of the result stand in mt::to(...)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto at = iota(s, in, mt::i32);
    s.output("y", scatter_add(x, at, out, batch) + sum(w));
  }
};
static_assert(is_accepted<step>);
