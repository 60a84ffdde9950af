// SPDX-License-Identifier: Apache-2.0
// The training step comes first, and the policy last.
// expect: T56 replicas takes the training step of one replica, then the dim of the replicas, then the policy
#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/regime/regime.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica", 4> {} replica;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    mt::sgd{}.minimize(s / "optimizer", sum(s.parameter("w", width) * s.input("x", s.real(), width)));
  }
};
struct train : mt::replicas<mt::synchronous, replica, step> {};
constexpr mt::module traced = mt::try_trace<train>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
