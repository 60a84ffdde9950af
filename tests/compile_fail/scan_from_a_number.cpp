// SPDX-License-Identifier: Apache-2.0
// scan(s / "time", batch, 0, x, body).
// expect: T29 scan takes the first carry, then a sequence, which are tensors
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [last, all] =
        mt::scan(s / "time", batch, 0, x, [](auto, auto h, auto now) { return std::tuple(h + now, now); });
    s.output("y", all);
  }
};
static_assert(is_accepted<step>);
