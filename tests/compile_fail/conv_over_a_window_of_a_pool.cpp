// SPDX-License-Identifier: Apache-2.0
// A window of a convolution names a dim of the kernel, one of a pool its size.
// expect: T36 conv takes a tensor, a kernel, the dims of its result and one to three windows over dims of the kernel:
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/conv.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;
inline constexpr struct rows_2_dim : mt::dim<"rows_2", 2> {} rows_2;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 2> {} k_rows;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows);
    s.output("y",
             conv(x, s.parameter("kernel", k_rows), mt::to(batch, rows_2), mt::window(rows, rows_2, 2, {.stride = 2})));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
