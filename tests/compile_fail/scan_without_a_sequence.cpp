// SPDX-License-Identifier: Apache-2.0
// scan(s / "time", length, start, body), as a loop that only counts.
// expect: T37 scan takes the first carry, then a sequence, which are tensors
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [last, all] = mt::scan(s / "time", length, sum(x, batch), [](auto, auto h) { return std::tuple(h, h); });
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
