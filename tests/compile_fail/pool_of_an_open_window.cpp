// SPDX-License-Identifier: Apache-2.0
// Gives the window of a pool by a dim whose extent is bound at start-up.
// expect: T48 pool: the size of a window is not fixed: give it as a number (f32[batch, length])
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/pool.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct shorter_dim : mt::dim<"shorter", 2> {} shorter;
inline constexpr struct taken_dim : mt::dim<"taken"> {} taken;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, length);
    s.output("y", max_pool(x, mt::window(length, shorter, taken)));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
