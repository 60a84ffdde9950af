// SPDX-License-Identifier: Apache-2.0
// What is carried is one of two, what is stacked the other.
// expect: T11 the body of scan returns std::tuple(next carry, what is stacked); several of either are a tuple of
// expect: their own
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, length, in);
    auto h = sum(x, length) * 0;
    auto [last, all] = mt::scan(s / "cell", length, std::tuple(h, h), x,
                                [](auto, auto a, auto b, auto now) { return std::tuple(a + now, b, a); });
    s.output("y", all);
  }
};
static_assert(is_accepted<step>);
