// SPDX-License-Identifier: Apache-2.0
// Takes the greatest of windows along a dim that is not there.
// expect: T01 pool: the operand lacks a dim over which a window moves (f32[batch], 'length')
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/pool.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct shorter_dim : mt::dim<"shorter", 2> {} shorter;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch);
    s.output("y", max_pool(x, mt::window(length, shorter, 2)));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
