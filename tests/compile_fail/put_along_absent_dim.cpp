// SPDX-License-Identifier: Apache-2.0
// A position is one along a dim that the tensor has.
// expect: T01 put: the operand lacks the dim
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/put.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch);
    s.output("y", put(x, x, length, 1));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
