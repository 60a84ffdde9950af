// SPDX-License-Identifier: Apache-2.0
// A loss in parts is that of the whole program.
// expect: G26 accumulate inside a loop or branch: take it outside
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/accumulate_gradients.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/reduce.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct parts_dim : mt::dim<"parts", 3> {} parts;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, parts);
    auto const y = repeat(s / "layers", layers, sum(x), [&](mt::scope auto r, auto h) {
      auto const [loss, gradients] = mt::accumulate(
          r / "model", parts, x, [](mt::scope auto m, auto part) { return sum(part * m.parameter("w", batch)); });
      return h + loss;
    });
    s.output("y", y);
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
