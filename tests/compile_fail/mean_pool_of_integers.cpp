// SPDX-License-Identifier: Apache-2.0
// Takes the mean of windows of integers.
// expect: T04 mean_pool takes a tensor of floats: cast the operand (i32[batch, length])
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/pool.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct shorter_dim : mt::dim<"shorter", 2> {} shorter;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::i32, batch, length);
    s.output("y", mean_pool(x, mt::window(length, shorter, 2)));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
