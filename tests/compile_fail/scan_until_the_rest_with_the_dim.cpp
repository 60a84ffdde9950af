// SPDX-License-Identifier: Apache-2.0
// The rest has all slices, as if it were an output.
// expect: T01 the rest of mt::until is f32[length, batch], but a slice of the output is f32[batch]
// expect: the rest has dims of the slice alone
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length, batch);
    auto grows = [](auto, auto h, auto now) { return std::tuple(h + now, h * now); };
    auto [last, all] =
        mt::scan(s / "time", length, sum(x, length), x, grows, mt::until{[](auto, auto h) { return max(h) > 3; }, x});
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
