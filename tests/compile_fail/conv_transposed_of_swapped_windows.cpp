// SPDX-License-Identifier: Apache-2.0
// A transposed convolution takes the windows of the convolution that it leads back.
// expect: T01 conv_transposed: the operand lacks the output of a window: take the windows of the convolution that it
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/conv.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;
inline constexpr struct rows_2_dim : mt::dim<"rows_2", 2> {} rows_2;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 2> {} k_rows;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows_2);
    s.output("y", conv_transposed(x, s.parameter("kernel", k_rows), mt::to(rows),
                                  mt::window(rows_2, rows, k_rows, {.stride = 2})));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
