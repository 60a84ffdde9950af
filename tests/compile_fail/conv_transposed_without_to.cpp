// SPDX-License-Identifier: Apache-2.0
// A transposed convolution takes the dims of its result in a list.
// expect: T26 conv_transposed takes a tensor, a kernel, the dims of its result and the windows of the
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
    auto const y = s.input("y", mt::f32, batch, rows_2);
    s.output("x",
             conv_transposed(y, s.parameter("kernel", k_rows), rows, mt::window(rows, rows_2, k_rows, {.stride = 2})));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
