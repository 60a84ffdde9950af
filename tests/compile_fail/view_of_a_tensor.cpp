// SPDX-License-Identifier: Apache-2.0
// x.view(-1): a tensor has no shape.
// expect: T31 a tensor has no shape to change: split, merge, rename, slice and broadcast change its dims by name
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    x.view(-1, 6);
  }
};
static_assert(is_accepted<step>);
