// SPDX-License-Identifier: Apache-2.0
// One slice of a dim starts at one position of it.
// expect: T03 slice: the start has a dim of the slice: rename it
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", slice(x, in, out, argmax(x, batch)));
  }
};
static_assert(is_accepted<step>);
