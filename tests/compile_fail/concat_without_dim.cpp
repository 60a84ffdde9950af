// SPDX-License-Identifier: Apache-2.0
// Both sides have the dim that is joined.
// expect: T01 concat: an operand lacks its dim
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/concat.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct d_model_dim : mt::dim<"d_model", 2> {} d_model;
inline constexpr struct joined_dim : mt::dim<"joined", length + d_model> {} joined;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, length);
    s.output("y", concat(x, length, x, d_model, joined));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
