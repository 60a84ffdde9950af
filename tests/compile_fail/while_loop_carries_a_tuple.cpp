// SPDX-License-Identifier: Apache-2.0
// The carries as a tuple, as those of repeat.
// expect: T37 the carries of while_loop are tensors, each an argument of its own
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [count, last, n] = while_loop(
        s / "w", mt::at_most(3), [](auto, auto, auto k) { return k < 4; },
        [](auto, auto y, auto k) { return std::tuple(y * 2, k + 1); }, std::tuple(x, sum(x)));
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
