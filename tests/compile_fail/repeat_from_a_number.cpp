// SPDX-License-Identifier: Apache-2.0
// repeat(s / "layers", in, 0, body): the carry is a tensor.
// expect: T29 a loop takes tensors as its carries and sequences, several as a tuple
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", repeat(s / "layers", in, 0, [&](auto, auto n) { return n + sum(x); }));
  }
};
static_assert(is_accepted<step>);
