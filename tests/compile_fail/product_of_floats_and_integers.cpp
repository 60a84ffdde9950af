// SPDX-License-Identifier: Apache-2.0
// x * ids: nothing is converted silently.
// expect: T02 the dtypes of the operands differ: cast one of them (f32[batch, in], i32[batch])
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto n = s.input("n", mt::i32, batch);
    s.output("y", x * n);
  }
};
static_assert(is_accepted<step>);
