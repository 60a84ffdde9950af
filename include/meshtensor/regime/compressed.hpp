// SPDX-License-Identifier: Apache-2.0
// Compressed messages with error feedback, for policies.
#pragma once

#include "meshtensor/regime/compressing_replica.hpp"
#include "meshtensor/regime/policy.hpp"

namespace meshtensor {

/// A policy whose replicas send compressed messages: `mt::compressed<mt::quantized<4>, mt::diloco<50>>`.
///
/// Changes of parameters, such as the gradients of `synchronous` or the outer gradients of `local_sgd` and `diloco`,
/// are sent with error feedback. Each replica sends C(g + e) and keeps e ← g + e - C(g + e), so everything arrives in
/// the end. It sends each part of g + e to the replica that owns this part, which sends a compressed mean to all and
/// keeps the rest. Replicas that mix parameters by a topology send changes of public copies instead. Each adds C(x -
/// x̂) to its own copy x̂, the receivers add the same to their sums of the neighbours' copies, and x ← x +
/// consensus_step · (Σ weight · x̂ - x̂). This keeps the sum of x over all replicas whatever is lost, and the
/// push-sum weight takes the same step. `consensus_step` is a number of the run, named `consensus_step`. On a
/// topology whose messages differ from round to round, there are several copies x̂, one for each round of a period,
/// or the copies that the topology names.
///
/// Tensors without dims, and values that a policy exchanges without saying of which parameter they are, are sent whole.
/// In a round of a topology, they take the same step as parameters.
///
/// layout  messages to the same ranks as without compression. A mean of messages that are not linear is an all_to_all
///         and an all_gather
/// state   like each parameter: `residual` of gradients, `residual_of_change` of changes of parameters, and
///         `public_copy` and `neighbours` of gossip, with a dim of copies if there are several. The last two are under
///         the name of the topology
/// errors  G49 a topology without a period that does not name its copies; G50 a mean of changes of parameters in
///         `by_step` after replicas that may differ, and `no_loco`
/// source  Stich et al. 2018, arXiv:1809.07599, and Karimireddy et al. 2019, arXiv:1901.09847, algorithm 2 (error
///         feedback); Tang et al. 2019, arXiv:1905.05957 (error feedback of the mean too); Koloskova et al. 2019,
///         arXiv:1902.00340, algorithm 2 (CHOCO-SGD); Taheri et al. 2020, arXiv:2002.10113 (push-sum)
template <compressor C, class Policy>
struct compressed : Policy {
  template <class Replica>
  using of_gradients = detail::compressing_replica<C, detail::compressed_change::gradient, Replica>;
  template <class Replica>
  using of_parameters = detail::compressing_replica<C, detail::compressed_change::parameter, Replica>;

  template <class Replica, handle G>
  requires detail::exchanges_gradients<Policy, of_gradients<Replica>>
  constexpr G gradient(Replica const& r, G const& g, G const& parameter) const {
    Policy const& inner = *this;
    return detail::exchanged_gradient(inner, of_gradients<Replica>(r), g, parameter);
  }
  template <class Replica>
  static constexpr replica_sharing sharing() {
    return detail::sharing_of<Policy, of_parameters<Replica>>();
  }
  template <class Replica>
  static constexpr bool keeps_start = detail::keeps_start<Policy, of_parameters<Replica>>;
  template <class Replica>
  constexpr void keep_start(Replica const& r) const {
    Policy const& inner = *this;
    if constexpr (keeps_start<Replica>) inner.keep_start(of_parameters<Replica>(r));
  }
  template <class Replica>
  requires detail::changes_updates<Policy, of_parameters<Replica>>
  constexpr void after_update(Replica const& r) const {
    Policy const& inner = *this;
    inner.after_update(of_parameters<Replica>(r));
  }
};

}  // namespace meshtensor
