// SPDX-License-Identifier: Apache-2.0
// x[:, 2:5].
// expect: T25 slice(x, length, part, first) takes a part along one dim: `part` is a dim of its own
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", slice(x, in, 2, 5));
  }
};
static_assert(is_accepted<step>);
