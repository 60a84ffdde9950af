// SPDX-License-Identifier: Apache-2.0
// expand(): all dims of the result are named.
// expect: T26 broadcast names all dims of its result: broadcast(x, mt::to(a, b))
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", broadcast(sum(x, in), in));
  }
};
static_assert(is_accepted<step>);
