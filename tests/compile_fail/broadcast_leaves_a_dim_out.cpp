// SPDX-License-Identifier: Apache-2.0
// A broadcast keeps all dims.
// expect: T03 broadcast: the result leaves out a dim of the operand
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/broadcast.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct d_model_dim : mt::dim<"d_model", 2> {} d_model;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, length);
    s.output("y", broadcast(x, to(length, d_model)));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
