// SPDX-License-Identifier: Apache-2.0
// window(in, 2).
// expect: T36 a window moves along one dim and gives another one
// expect: not ('in', a number)
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/pool.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", max_pool(x, mt::window(in, 2)));
  }
};
static_assert(is_accepted<step>);
