// SPDX-License-Identifier: Apache-2.0
// A compressed mean of parameters needs values that all replicas have.
// expect: G50: by_step: a compressed mean of parameters sends changes from values that all replicas have
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
using policy =
    mt::by_step<mt::every_nth_step<4>, mt::compressed<mt::quantized<8>, mt::local_sgd<1>>, mt::decentralized_sgd<>>;
constexpr mt::module traced = mt::try_trace<mt::replicas<step, replica, policy>>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
