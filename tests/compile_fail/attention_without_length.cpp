// SPDX-License-Identifier: Apache-2.0
// Attention needs positions.
// expect: T01 attention: the operand lacks a dim
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/attention.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct d_model_dim : mt::dim<"d_model", 2> {} d_model;
inline constexpr struct memory_dim : mt::dim<"memory", 3> {} memory;
inline constexpr struct heads_dim : mt::dim<"heads", 2> {} heads;
inline constexpr struct head_dim : mt::dim<"head", 2> {} head;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, length);
    s.output("y", mt::nn::attention(s / "attention", x, d_model, memory, length, heads, head));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
