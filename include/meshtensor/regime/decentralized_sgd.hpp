// SPDX-License-Identifier: Apache-2.0
// Decentralized parallel SGD (D-PSGD): gossip without weights, on topologies whose replicas receive as much as they
// send.
#pragma once

#include "meshtensor/regime/ring.hpp"
#include "meshtensor/regime/training_replica.hpp"
#include "meshtensor/regime/usable_topology.hpp"

namespace meshtensor {

/// A policy in which each replica mixes its parameters with those of its neighbours, p ← W p, and adds the step that
/// its optimizer takes from the parameters before. The messages travel while the gradients are computed.
///
/// There are no weights. Therefore the mean of all replicas is right only if each replica receives as much as it sends,
/// as on a ring. On other topologies the result is biased, so use `stochastic_gradient_push` there.
///
/// layout  with one replica a rank, messages to the neighbours of a round alone
/// errors  G49 the topology loses values, or does not connect all replicas
/// source  Lian et al., arXiv:1705.09056, algorithm 1
template <class T = ring>
struct decentralized_sgd {
  using topology_type = typename detail::usable_topology<T>::type;
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    auto const send = r.template hop<topology_type>();
    for (int i = 0; i < r.size(); ++i) {
      auto const [p, next] = r[i];
      r.set(r[i], send(p, p) + (next - p));
    }
  }
};

}  // namespace meshtensor
