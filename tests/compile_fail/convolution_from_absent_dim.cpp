// SPDX-License-Identifier: Apache-2.0
// A convolution names the channels that it maps.
// expect: T01 convolution: the operand lacks channels that it maps from
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/convolution.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 3> {} rows;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct c_in_dim : mt::dim<"c_in", 2> {} c_in;
inline constexpr struct c_out_dim : mt::dim<"c_out", 2> {} c_out;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows);
    s.output("y", mt::nn::convolution(s / "conv", x, c_in, c_out,
                                      mt::window(rows, rows, k_rows, {.padding = mt::centred_padding})));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
