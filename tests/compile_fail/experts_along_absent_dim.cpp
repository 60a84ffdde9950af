// SPDX-License-Identifier: Apache-2.0
// Tokens are along a dim of what goes to experts.
// expect: T01 mixture_of_experts: the operand lacks a dim
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/experts.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct d_model_dim : mt::dim<"d_model", 2> {} d_model;
inline constexpr struct experts_dim : mt::dim<"experts", 4> {} experts;
inline constexpr struct choices_dim : mt::dim<"choices", 2> {} choices;
inline constexpr struct slots_dim : mt::dim<"slots", 2> {} slots;
inline constexpr struct d_ff_dim : mt::dim<"d_ff", 5> {} d_ff;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, length);
    auto const [y, balance, dropped] =
        mt::nn::mixture_of_experts(s / "experts", x, length, d_model, experts, choices, slots, d_ff);
    s.output("y", y);
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
