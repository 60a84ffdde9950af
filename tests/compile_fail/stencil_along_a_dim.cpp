// SPDX-License-Identifier: Apache-2.0
// A stencil names its dims in its function.
// expect: T37 stencil takes a tensor and a function, which names the dims
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/stencil.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::stencil(x, in, [](auto at) { return at(in(1)); }));
  }
};
static_assert(is_accepted<step>);
