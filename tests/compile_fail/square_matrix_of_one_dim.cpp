// SPDX-License-Identifier: Apache-2.0
// A square matrix needs two dims.
// expect: T42: a tensor has one dim twice
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", einsum(x, s.parameter("w", in, in), mt::to(batch, in)));
  }
};
static_assert(is_accepted<step>);
