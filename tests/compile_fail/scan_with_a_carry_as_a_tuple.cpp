// SPDX-License-Identifier: Apache-2.0
// The carries of an LSTM are arguments of their own.
// expect: T11 the body of a loop takes the scope, then each carry and a slice of each sequence as arguments of their
// expect: own
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, length, in);
    auto h = sum(x, length) * 0;
    auto [last, all] = mt::scan(s / "cell", length, std::tuple(h, h), x, [](auto, auto state, auto now) {
      auto [a, b] = state;
      return std::tuple(std::tuple(a + now, b), a);
    });
    s.output("y", all);
  }
};
static_assert(is_accepted<step>);
