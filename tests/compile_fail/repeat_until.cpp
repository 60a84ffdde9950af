// SPDX-License-Identifier: Apache-2.0
// repeat with an end, which only scan has.
// expect: T37 repeat takes no mt::until: write mt::scan, which stops at a condition, and whose iterations share
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/control/until.hpp"

inline constexpr struct rounds : mt::dim<"rounds", 5> {} rounds;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rounds, in);
    auto [last, all] = mt::repeat(
        s / "rounds", rounds, x * 0, x, [](auto, auto h, auto now) { return std::tuple(h + now, h); },
        mt::until{[](auto, auto h) { return sum(h) > 1; }, 0});
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
