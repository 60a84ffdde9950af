// SPDX-License-Identifier: Apache-2.0
// x[0].
// expect: T32 elements are not indexed: slice(x, dim, part, first) takes a part
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    x[0];
  }
};
static_assert(is_accepted<step>);
