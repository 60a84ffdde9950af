// SPDX-License-Identifier: Apache-2.0
// A policy that calls another one does not keep the start of its period in steps of a third one.
// expect: G50: by_step: with mt::every_nth_step, the period of a policy begins in a step of the other one
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
struct scaled {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    mt::diloco<1>{}.after_update(r);
  }
};
using policy = mt::by_step<mt::every_nth_step<4>, scaled, mt::stochastic_gradient_push<>>;
constexpr mt::module traced = mt::try_trace<mt::replicas<step, replica, policy>>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
