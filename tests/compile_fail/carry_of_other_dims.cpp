// SPDX-License-Identifier: Apache-2.0
// A next carry that lost a dim.
// expect: T03 the next carry of a loop is f32[batch], but the carry is f32[batch, in]
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::repeat(s / "loop", layers, x, [](auto, auto h) { return sum(h, in); }));
  }
};
static_assert(is_accepted<step>);
