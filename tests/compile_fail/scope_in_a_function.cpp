// SPDX-License-Identifier: Apache-2.0
// A part of a model as a plain function.
// expect: G04 'gain' belongs to the scope 'block', but is used in the program's own scope
#include "compile_fail/first_attempt.hpp"

constexpr auto block(mt::scope auto s, auto x) { return x * s.parameter("gain", in); }

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", block(s / "block", x));
  }
};
static_assert(is_accepted<step>);
