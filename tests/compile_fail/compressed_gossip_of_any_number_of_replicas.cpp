// SPDX-License-Identifier: Apache-2.0
// The number of public copies of compressed gossip must be known when the program is compiled.
// expect: G49: compressed: the number of public copies of a replica depends on the number of replicas
#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/regime/regime.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica"> {} replica;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    mt::sgd{}.minimize(s / "optimizer", sum(s.parameter("w", width) * s.input("x", mt::f32, width)));
  }
};
using policy = mt::compressed<mt::quantized<8>, mt::stochastic_gradient_push<mt::one_peer_exponential>>;
constexpr mt::module traced = mt::try_trace<mt::replicas<step, replica, policy>>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
