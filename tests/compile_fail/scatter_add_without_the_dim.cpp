// SPDX-License-Identifier: Apache-2.0
// The result has the dim along which rows are added.
// expect: T01 scatter_add: to(...) lacks the dim along which rows are added ('out', 'batch')
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto at = iota(s, in, mt::i32);
    s.output("y", scatter_add(x, at, out, mt::to(batch)) + sum(w));
  }
};
static_assert(is_accepted<step>);
