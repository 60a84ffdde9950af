// SPDX-License-Identifier: Apache-2.0
// Two policies that take turns have one state for the start of their periods.
// expect: G50: by_step: both policies of mt::every_nth_step keep the parameters from the start of a
#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/regime/regime.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica", 4> {} replica;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    mt::sgd{}.minimize(s / "optimizer", sum(s.parameter("w", width) * s.input("x", mt::f32, width)));
  }
};
using policy = mt::by_step<mt::every_nth_step<4>, mt::diloco<1>, mt::slow_momentum<8>>;
constexpr mt::module traced = mt::try_trace<mt::replicas<step, replica, policy>>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
