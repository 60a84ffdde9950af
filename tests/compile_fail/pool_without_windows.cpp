// SPDX-License-Identifier: Apache-2.0
// Gives a pool a dim and a size in the place of a window.
// expect: T36 a pool takes one to three windows: max_pool(x, mt::window(rows, rows_2, 3, {.stride = 2}),
// expect: , not (f32[batch, length], 'length', a number)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/pool.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", max_pool(s.input("x", mt::f32, batch, length), length, 2));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
