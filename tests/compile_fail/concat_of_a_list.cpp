// SPDX-License-Identifier: Apache-2.0
// torch.cat([x, y], dim=0).
// expect: T37 concat(x, before, y, after, all) joins two tensors along a dim of each
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", concat(x, x, in));
  }
};
static_assert(is_accepted<step>);
