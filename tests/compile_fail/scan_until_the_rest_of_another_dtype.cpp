// SPDX-License-Identifier: Apache-2.0
// The rest is a tensor of integers, the output of floats.
// expect: T02 the rest of mt::until has another dtype than the output: cast it
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/full.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length, batch);
    auto grows = [](auto, auto h, auto now) { return std::tuple(h + now, h * now); };
    auto [last, all] = mt::scan(s / "time", length, sum(x, length), x, grows,
                                mt::until{[](auto, auto h) { return max(h) > 3; }, full(s, 0, mt::i32)});
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);
