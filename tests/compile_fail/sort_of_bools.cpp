// SPDX-License-Identifier: Apache-2.0
// Bools have no order.
// expect: T04 argsort of bools: cast the operand (bool[batch])
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/sort.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch);
    s.output("y", std::get<1>(sort(x > 0, batch)));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
