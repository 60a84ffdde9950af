// SPDX-License-Identifier: Apache-2.0
// Gradients by what is made outside of the parts would be lost.
// expect: G34 accumulate: its body uses a tensor that was made from parameters outside
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/accumulate_gradients.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/reduce.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct parts_dim : mt::dim<"parts", 3> {} parts;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, parts);
    auto const w = tanh(s.parameter("w", batch));
    auto const [loss, gradients] = mt::accumulate(
        s / "model", parts, x, [&](mt::scope auto m, auto part) { return sum(part * w * m.parameter("u", batch)); });
    s.output("loss", loss);
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
