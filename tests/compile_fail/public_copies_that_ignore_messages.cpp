// SPDX-License-Identifier: Apache-2.0
// All rounds change one public copy, although their messages differ.
// expect: G49 the topology one_for_all of 4 replicas: replica 0 changes the same public copy in the rounds
#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/regime/regime.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica", 4> {} replica;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;

struct one_for_all : mt::random_out_degrees<1> {
  static constexpr int copies(int) { return 1; }
  static constexpr int copy(int, std::int64_t, int) { return 0; }
};
struct step {
  constexpr void operator()(mt::scope auto s) const {
    mt::sgd{}.minimize(s / "optimizer", sum(s.parameter("w", width) * s.input("x", mt::f32, width)));
  }
};
using policy = mt::compressed<mt::quantized<8>, mt::stochastic_gradient_push<one_for_all>>;
constexpr mt::module traced = mt::try_trace<mt::replicas<step, replica, policy>>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
