// SPDX-License-Identifier: Apache-2.0
// Rows go to groups that integers name.
// expect: T02 all_to_all_rows: the index is not an integer
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto sent = all_to_all_rows(x, sum(x, in), layers);
    s.output("y", return_rows(sent.rows, sent));
  }
};
static_assert(is_accepted<step>);
