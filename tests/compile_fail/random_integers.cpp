// SPDX-License-Identifier: Apache-2.0
// Random numbers are floats.
// expect: T04 random numbers are floats: cast them
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/random.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct d_model_dim : mt::dim<"d_model", 2> {} d_model;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, length);
    s.output("y", cast<mt::dtype::f32>(uniform(s / "u", mt::i64, to(batch))) + x);
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
