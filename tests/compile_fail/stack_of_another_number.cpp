// SPDX-License-Identifier: Apache-2.0
// The new dim has as many elements as tensors are stacked.
// expect: T05 stack: the extent of the new dim is not the number of tensors
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/stack.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch);
    s.output("y", stack(std::tuple(x, x), length));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
