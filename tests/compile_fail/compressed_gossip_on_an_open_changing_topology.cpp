// SPDX-License-Identifier: Apache-2.0
// More than an extent is missing, so the sentence does not ask for one.
// expect: G49: compressed: replicas know the parameters of their neighbours from all messages so far
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
using policy = mt::compressed<mt::quantized<8>, mt::stochastic_gradient_push<mt::random_out_degrees<1>>>;
constexpr mt::module traced = mt::try_trace<mt::replicas<step, replica, policy>>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
