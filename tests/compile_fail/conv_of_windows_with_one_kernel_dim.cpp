// SPDX-License-Identifier: Apache-2.0
// Moves two windows along rows and columns that share one dim of the kernel.
// expect: T45 conv: two windows share a dim: each moves along one, gives one and has one of the kernel ('rows', 'cols',
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/conv.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;
inline constexpr struct cols_dim : mt::dim<"cols", 4> {} cols;
inline constexpr struct down_dim : mt::dim<"down", 3> {} down;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows, cols);
    auto const kernel = s.input("kernel", mt::f32, down);
    mt::window_options const centred{.padding = mt::centred_padding};
    s.output("y", conv(x, kernel, mt::to(rows, cols), mt::window(rows, rows, down, centred),
                       mt::window(cols, cols, down, centred)));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
