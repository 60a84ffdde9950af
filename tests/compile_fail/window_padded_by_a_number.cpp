// SPDX-License-Identifier: Apache-2.0
// padding=1.
// expect: T36 a window is padded before and behind its dim: .padding = {1, 1}
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/pool.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", max_pool(x, mt::window(in, out, 3, {.stride = 2, .padding = 1})));
  }
};
static_assert(is_accepted<step>);
