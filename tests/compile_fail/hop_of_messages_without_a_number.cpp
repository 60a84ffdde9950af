// SPDX-License-Identifier: Apache-2.0
// The number of messages of some topologies depends on the number of replicas.
// expect: G49 the topology complete: the number of messages in a round, slots(n), depends on the number of replicas
#include "meshtensor/regime/complete.hpp"
#include "meshtensor/regime/hop.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica"> {} replica;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::hop<mt::complete>(s, replica, s.step())(s.input("x", mt::f32, replica)));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
