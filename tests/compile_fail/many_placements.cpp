// SPDX-License-Identifier: Apache-2.0
// A program asks for as many placements as its table holds.
// expect: S06 a program asks for more than 64 placements
// expect: many_placements.cpp:17)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/reshard.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch);
    for (int i = 0; i < 65; ++i) x = reshard(x, mt::shard<batch, data>{});
    s.output("y", x);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}
