// SPDX-License-Identifier: Apache-2.0
// A slice is put at a tensor; at a number rows are put.
// expect: T29 put(x, part, length, window, start) starts at a tensor of integers
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", put(x, slice(x, in, out, 1), in, out, 2));
  }
};
static_assert(is_accepted<step>);
