// SPDX-License-Identifier: Apache-2.0
// The number of messages of a topology of one's own depends on the number of replicas, which is given at start-up.
// expect: G49 the topology star: the number of messages in a round, slots(n), depends on the number of replicas
#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/regime/regime.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica"> {} replica;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;

struct star {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int n) { return n - 1; }
  static constexpr mt::edge incoming(int n, std::int64_t, int replica, int slot) {
    if (replica == 0) return {slot + 1, 0.5};
    return slot == 0 ? mt::edge{0, 1.0 / n} : mt::edge{};
  }
  static constexpr double kept(int n, std::int64_t, int replica) { return replica == 0 ? 1.0 / n : 0.5; }
};
struct step {
  constexpr void operator()(mt::scope auto s) const {
    mt::sgd{}.minimize(s / "optimizer", sum(s.parameter("w", width) * s.input("x", mt::f32, width)));
  }
};
constexpr mt::module traced = mt::try_trace<mt::replicas<step, replica, mt::stochastic_gradient_push<star>>>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
