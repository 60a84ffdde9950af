// SPDX-License-Identifier: Apache-2.0
// Only rows that were exchanged come back.
// expect: T01 return_rows: the operand is not of rows exchanged by this dim
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto sent = all_to_all_rows(x, s.input("index", mt::i32, batch), layers);
    s.output("y", return_rows(x, sent));
  }
};
static_assert(is_accepted<step>);
