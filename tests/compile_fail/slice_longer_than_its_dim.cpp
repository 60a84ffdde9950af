// SPDX-License-Identifier: Apache-2.0
// No slice is longer than what it is taken from.
// expect: T05 the slice is longer than the dim that it is taken from
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", slice(x, in, length, argmax(sum(x, batch), in)));
  }
};
static_assert(is_accepted<step>);
