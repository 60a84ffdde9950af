// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient push (SGP): each replica trains alone and mixes its parameters with those of a few others.
#pragma once

#include "meshtensor/regime/exponential.hpp"
#include "meshtensor/regime/training_replica.hpp"

namespace meshtensor {
namespace detail {

/// The push-sum weight of a replica.
struct push_sum {
  template <scope S>
  static constexpr auto weight(S const& s) {
    return s.state("push_sum_weight", dtype_constant<parameters_of<S>::value>{}, ones, merge_rule::mass);
  }
};

}  // namespace detail

/// A policy in which each replica takes a step of its optimizer, and then sends a share of its parameters to the
/// replicas that the topology names. Each adds the share that it keeps and the shares that it receives. Replicas may
/// receive more or less than they send. Therefore each mixes a weight in the same way, and divides by it.
///
/// The numerators are x = weight · p, where p is the parameter that the program reads and the store keeps. They take
/// the step of the optimizer, x ← x + (p' − p), and are mixed: x ← P x, weight ← P weight, p ← x / weight. Therefore
/// gradients are taken at de-biased parameters, and the sums of x and of weight over all replicas change by optimizer
/// steps alone. Moments of optimizers and other states are not mixed.
///
/// layout  with one replica a rank, messages to the neighbours of a round alone
/// state   push_sum_weight, a number for each replica
/// errors  G49 the topology loses values, or does not connect all replicas
/// source  Assran et al., arXiv:1811.10792, algorithm 1; Kempe et al., FOCS 2003 (push-sum)
template <topology T = one_peer_exponential>
struct stochastic_gradient_push : detail::push_sum {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    auto const send = r.template hop<T>();
    auto const w = weight(r.scope);
    for (int i = 0; i < r.size(); ++i) {  // all numerators before the first message, so that all travel as one
      auto const [p, next] = r[i];
      r.set(r[i], next + p * (w - 1));
    }
    auto const mixed_w = send(w);
    for (int i = 0; i < r.size(); ++i) r.set(r[i], send(r[i].after, r[i].before) / mixed_w);
    r.scope.update(w, mixed_w);
  }
};

/// Stochastic gradient push whose messages travel while the gradients are computed. The numerators are sent at the
/// head of a step, and the step of the optimizer is added to the shares that arrive: x ← P x + (p' − p).
///
/// layout, state, errors  as of `stochastic_gradient_push`
/// source  Assran et al., arXiv:1811.10792, algorithm 2 with messages of age 1
template <topology T = one_peer_exponential>
struct overlapped_gradient_push : detail::push_sum {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    auto const send = r.template hop<T>();
    auto const w = weight(r.scope), mixed_w = send(w);
    for (int i = 0; i < r.size(); ++i) {
      auto const [p, next] = r[i];
      r.set(r[i], (send(p * w, p) + (next - p)) / mixed_w);
    }
    r.scope.update(w, mixed_w);
  }
};

/// Stochastic gradient push without the weight, for comparisons: p ← P p′. On a topology whose replicas receive more or
/// less than they send, the result is biased. `decentralized_sgd` is `overlapped_gradient_push` without the weight.
///
/// layout, errors  as of `stochastic_gradient_push`
/// source  Assran et al., arXiv:1811.10792, section 6 (biased)
template <topology T = one_peer_exponential>
struct biased_gradient_push {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    auto const send = r.template hop<T>();
    for (int i = 0; i < r.size(); ++i) r.set(r[i], send(r[i].after, r[i].before));
  }
};

}  // namespace meshtensor
