// SPDX-License-Identifier: Apache-2.0
// The padding belongs to a window.
// expect: T36 a pool takes one to three windows
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/pool.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", max_pool(x, mt::window(in, out, 3), mt::no_padding));
  }
};
static_assert(is_accepted<step>);
