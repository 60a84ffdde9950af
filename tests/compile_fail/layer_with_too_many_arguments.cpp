// SPDX-License-Identifier: Apache-2.0
// A layer takes what its function takes.
// expect: T18 a layer is called with other arguments than its function takes
// expect:  (f32[batch, in], 'in')
#include "compile_fail/first_attempt.hpp"

inline constexpr mt::layer block = [](mt::scope auto s, auto x) { return x * s.parameter("gain", in); };

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", block(s / "block", x, in));
  }
};
static_assert(is_accepted<step>);
