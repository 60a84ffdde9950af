// SPDX-License-Identifier: Apache-2.0
// A neighbour is at a distance along a dim.
// expect: T39 stencil: `at` takes distances along dims, at(rows(-1), cols(2)), or nothing, not
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/stencil.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows);
    s.output("y", mt::stencil(x, [](auto at) { return at(rows); }));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
