// SPDX-License-Identifier: Apache-2.0
// A batch norm needs its channels.
// expect: T01 batch_norm: the operand lacks the dim
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/batch_norm.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 3> {} rows;
inline constexpr struct channels_dim : mt::dim<"channels", 2> {} channels;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows);
    s.output("y", mt::nn::batch_norm(s / "norm", x, channels));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
