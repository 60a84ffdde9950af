// SPDX-License-Identifier: Apache-2.0
// take(x, index, batch).
// expect: T35 the rows of an index are gather(table, index, along)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto index = s.input("index", mt::i32, length);
    s.output("y", take(x, index, batch));
  }
};
static_assert(is_accepted<step>);
