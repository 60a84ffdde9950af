// SPDX-License-Identifier: Apache-2.0
// A scan that starts from the sequence itself.
// expect: T44 a loop over 'batch' stacks f32[batch, in], which has that dim itself: start from a tensor without it
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [last, all] = mt::scan(s / "time", batch, x, x, [](auto, auto h, auto now) { return std::tuple(h + now, h); });
    s.output("last", last);
  }
};
static_assert(is_accepted<step>);
