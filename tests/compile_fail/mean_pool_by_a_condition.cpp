// SPDX-License-Identifier: Apache-2.0
// count_include_pad=False.
// expect: T36 mean_pool takes one to three windows, and perhaps mt::mean_over::elements
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/pool.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mean_pool(x, mt::window(in, out, 3), false));
  }
};
static_assert(is_accepted<step>);
