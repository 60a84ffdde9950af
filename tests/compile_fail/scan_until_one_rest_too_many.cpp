// SPDX-License-Identifier: Apache-2.0
// Two numbers behind the exit, but one output.
// expect: T11 the rest of mt::until is a tuple, but not with one number or tensor for each output
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length, batch);
    auto grows = [](auto, auto h, auto now) { return std::tuple(h + now, h * now); };
    auto [last, all] = mt::scan(s / "time", length, sum(x, length), x, grows,
                                mt::until{[](auto, auto h) { return max(h) > 3; }, std::tuple(0, 1)});
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
