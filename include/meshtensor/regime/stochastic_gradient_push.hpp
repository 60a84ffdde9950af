// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient push (SGP): each replica trains alone and mixes its parameters with those of a few others.
#pragma once

#include "meshtensor/regime/one_peer_exponential.hpp"
#include "meshtensor/regime/training_replica.hpp"

namespace meshtensor {

/// A policy in which each replica takes a step of its optimizer, and then sends a share of its parameters to the
/// replicas that the topology names. What a replica keeps and receives is added up. Replicas may receive more or less
/// than they send, so each also mixes a weight in the same way, and divides by it.
///
/// The numerators are x = weight · p, where p is the parameter that the program reads and the store keeps. They take
/// the step of the optimizer, x ← x + (p' − p), and are mixed: x ← P x, weight ← P weight, p ← x / weight. Therefore
/// gradients are taken at de-biased parameters, and the sums of x and of weight over all replicas change by optimizer
/// steps alone. Moments of optimizers and other states are not mixed.
///
/// layout  with one replica a rank, one message to each neighbour
/// state   push_sum_weight, a number for each replica
/// source  Assran et al., arXiv:1811.10792, algorithm 1; Kempe et al., FOCS 2003 (push-sum)
template <class Topology = one_peer_exponential>
struct stochastic_gradient_push {
  Topology topology{};

  /// The push-sum weight of this replica.
  template <scope S>
  static constexpr auto weight(S const& s) {
    return s.state("push_sum_weight", dtype_constant<detail::parameters_of<S>::value>{}, ones);
  }
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    auto const w = weight(r.scope), mixed_weight = topology.mixed(r, w);
    for (int i = 0; i < r.size(); ++i) {
      auto const [p, after] = r[i];
      auto const x = after + p * (w - 1);
      r.set(r[i], topology.mixed(r, x) / mixed_weight);
    }
    r.scope.update(w, mixed_weight);
  }
};

}  // namespace meshtensor
