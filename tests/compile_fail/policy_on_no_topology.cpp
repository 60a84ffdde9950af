// SPDX-License-Identifier: Apache-2.0
// A topology has four functions.
// expect: G49 onward is no topology, because it lacks the function static constexpr double kept(
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
struct onward {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int n, std::int64_t, int own, int) { return {(own + n - 1) % n, 0.5}; }
};
struct train : mt::replicas<step, replica, mt::stochastic_gradient_push<onward>> {};
constexpr mt::module traced = mt::try_trace<train>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
