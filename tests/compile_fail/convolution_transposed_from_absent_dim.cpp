// SPDX-License-Identifier: Apache-2.0
// The layer names itself, and the channels that it maps.
// expect: T01 convolution_transposed: the operand lacks channels that it maps from
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/convolution.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;
inline constexpr struct rows_2_dim : mt::dim<"rows_2", 2> {} rows_2;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 2> {} k_rows;
inline constexpr struct c_in_dim : mt::dim<"c_in", 2> {} c_in;
inline constexpr struct c_out_dim : mt::dim<"c_out", 2> {} c_out;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = s.input("y", mt::f32, batch, rows_2);
    s.output("x",
             mt::nn::convolution_transposed(s / "up", y, c_in, c_out, mt::window(rows, rows_2, k_rows, {.stride = 2})));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
