// SPDX-License-Identifier: Apache-2.0
// Moves both windows of a pool along the rows.
// expect: T45 pool: two windows share a dim: each moves along one and gives one ('rows', 'rows', 'rows', 'rows')
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/pool.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;
inline constexpr struct cols_dim : mt::dim<"cols", 4> {} cols;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows, cols);
    auto const around = mt::window(rows, rows, 3, {.padding = mt::centred_padding});
    s.output("y", max_pool(x, around, around));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
