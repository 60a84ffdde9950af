// SPDX-License-Identifier: Apache-2.0
// Nothing is clipped where there is nothing to change.
// expect: G28 minimize finds no parameter of dtype f32 declared before it in the program's own scope
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/sgd.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct d_model_dim : mt::dim<"d_model", 2> {} d_model;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, length);
    mt::sgd{.clip_norm = 1}.minimize(s / "optimizer", sum(x));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
