// SPDX-License-Identifier: Apache-2.0
// Names the groups of a norm, but not the channels in each.
// expect: T18 group_norm takes a scope, x, its channels, mt::to(groups, in_group) and the dims of positions
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/group_norm.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 3> {} rows;
inline constexpr struct channels_dim : mt::dim<"channels", 6> {} channels;
inline constexpr struct groups_dim : mt::dim<"groups", 2> {} groups;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows, channels);
    mt::nn::group_norm(s / "norm", x, channels, groups, rows);
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
