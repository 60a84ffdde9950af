// SPDX-License-Identifier: Apache-2.0
// scan(batch, start, x, body).
// expect: T17 a loop takes a scope, the dim that counts its iterations
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    mt::scan(batch, sum(x, batch), x, [](auto h, auto now) { return std::tuple(h, now); });
  }
};
static_assert(is_accepted<step>);
