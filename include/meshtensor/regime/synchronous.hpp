// SPDX-License-Identifier: Apache-2.0
// Synchronous training: all replicas take the same step, with the mean of their gradients.
#pragma once

#include "meshtensor/regime/training_replica.hpp"

namespace meshtensor {

/// A policy in which the optimizer of each replica uses the mean of all replicas' gradients. Therefore the replicas
/// stay equal, and train like one model with the batches of all of them. States, for example the running averages of
/// batch norms, are those of each replica.
///
/// layout  an all_reduce of the gradients
/// source  Buchlovsky et al., arXiv:1902.00465, section 3; Goyal et al., arXiv:1706.02677
struct synchronous {
  template <class Replica, handle G>
  constexpr G gradient(Replica const& r, G const& g, G const& parameter) const {
    return r.mean(g, parameter);
  }
};

}  // namespace meshtensor
