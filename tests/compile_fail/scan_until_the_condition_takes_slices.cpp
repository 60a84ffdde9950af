// SPDX-License-Identifier: Apache-2.0
// The condition is written like the body, with a slice of the sequence.
// expect: T11 the condition of mt::until takes the scope, then each carry as an argument of its own
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length, batch);
    auto grows = [](auto, auto h, auto now) { return std::tuple(h + now, h * now); };
    auto [last, all] = mt::scan(s / "time", length, sum(x, length), x, grows,
                                mt::until{[](auto, auto h, auto now) { return max(h * now) > 3; }, 0});
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
