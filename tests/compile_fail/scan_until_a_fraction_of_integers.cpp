// SPDX-License-Identifier: Apache-2.0
// A fraction behind the exit of integers.
// expect: T02 0.5 is not an integer, but stands behind the exit in a tensor of i32
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::i32, length, batch);
    auto [last, all] = mt::scan(
        s / "time", length, sum(x, length), x, [](auto, auto h, auto now) { return std::tuple(h + now, h); },
        mt::until{[](auto, auto h) { return max(h) > 3; }, 0.5});
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
