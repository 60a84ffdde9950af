// SPDX-License-Identifier: Apache-2.0
// Sums along a dim that is not there.
// expect: T01 cumulative_sum: the operand lacks the dim (f32[batch], 'length')
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/cumulative_sum.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch);
    s.output("y", cumulative_sum(x, length));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
