// SPDX-License-Identifier: Apache-2.0
// The condition without mt::until around it.
// expect: T37 the last argument of scan is mt::until{condition, rest}, or there is none
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length, batch);
    auto grows = [](auto, auto h, auto now) { return std::tuple(h + now, h * now); };
    auto [last, all] = mt::scan(s / "time", length, sum(x, length), x, grows, [](auto, auto h) { return max(h) > 3; });
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
