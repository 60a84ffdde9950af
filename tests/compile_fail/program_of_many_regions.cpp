// SPDX-License-Identifier: Apache-2.0
// A program has as many regions as its table holds.
// expect: G20 the program has more than 512 regions
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/composite.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    for (int i = 0; i < 512; ++i) x = composite("same", [](auto h) { return h; }, x);
    s.output("y", x);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}
