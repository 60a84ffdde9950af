// SPDX-License-Identifier: Apache-2.0
// A program has as many numbers as its table holds.
// expect: G17 the program has more than 2048 numbers
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/schedule.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto rate = s.number("rate", 1);
    for (int i = 0; i < 2048; ++i) rate = mt::nn::warmup_constant(s, rate, 1);
    s.output("y", s.input("x", mt::f32, in) * rate);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}
