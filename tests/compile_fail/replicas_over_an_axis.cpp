// SPDX-License-Identifier: Apache-2.0
// Replicas are counted by a dim, which an axis may shard.
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
inline constexpr struct data_axis : mt::axis<"data"> {} data;
struct train : mt::replicas<step, data, mt::synchronous> {};
constexpr mt::module traced = mt::try_trace<train>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
