// SPDX-License-Identifier: Apache-2.0
// What the outputs hold behind the exit is not said.
// expect: T37 mt::until lacks its rest, which stands in the outputs behind the exit: mt::until{condition, 0}
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length, batch);
    auto grows = [](auto, auto h, auto now) { return std::tuple(h + now, h * now); };
    auto [last, all] =
        mt::scan(s / "time", length, sum(x, length), x, grows, mt::until{[](auto, auto h) { return max(h) > 3; }});
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
