// SPDX-License-Identifier: Apache-2.0
// interpolate(x, mode="linear").
// expect: T37 resize(x, rows, wide, mt::interpolation::linear) gives a dim another extent
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/resize.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", resize(x, in, out, "linear"));
  }
};
static_assert(is_accepted<step>);
