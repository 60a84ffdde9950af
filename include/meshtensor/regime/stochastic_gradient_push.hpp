// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient push (SGP): each replica trains alone and mixes its parameters with those of a few others.
#pragma once

#include "meshtensor/regime/exponential.hpp"
#include "meshtensor/regime/training_replica.hpp"
#include "meshtensor/regime/usable_topology.hpp"

namespace meshtensor {
namespace detail {

/// The push-sum weight of a replica. It is f32 or more, because a weight that is rounded to bf16 in each round would
/// change the sum of all.
struct push_sum {
  template <scope S>
  static constexpr auto weight(S const& s) {
    return s.state("push_sum_weight", dtype_constant<accumulator_of(parameters_of<S>::value)>{}, ones,
                   merge_rule::mass);
  }
};

/// A round of push-sum among replicas that send changes of numerators, under `compressed`.
template <class Send, handle W>
struct push_sum_round {
  Send const& send;
  W before, after;

  constexpr push_sum_round(Send const& s, W const& w) : send(s), before(w), after(s(w)) {}
  /// The weighted mean of the values of a parameter that a replica keeps and receives, in f64.
  template <handle X>
  constexpr any_tensor<dtype::f64> mean(X const& x, X const& parameter) const {
    return in_f64(send(scaled(x, before), parameter)) / in_f64(after);
  }
};
/// The same without `compressed`. The messages have the parameters themselves and the weights, not the numerators.
/// Therefore nothing is rounded on the way, and replicas that are equal stay equal.
template <topology T, dim_type D, handle W>
struct push_sum_round<replica_hop<T, D>, W> {
  D along;
  typename topology_round<T, D>::of_means means;
  W after;

  constexpr push_sum_round(replica_hop<T, D> const& send, W const& w)
      : along(send.along),
        means(send.round.weighted(across(w, along))),
        after(w.owner, cast<W::type>(own(means.weights, along)).id) {}
  template <handle X>
  constexpr any_tensor<dtype::f64> mean(X const& x, X const& /*parameter*/) const {
    return own(means.round.sum(across(x, along)), along);
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
/// steps alone. Moments of optimizers and other states are not mixed. A message has x / weight and the weight. The
/// arithmetic is f64, and its results are rounded once.
///
/// layout  with one replica a rank, messages to the neighbours of a round alone
/// state   push_sum_weight, a number for each replica: f32, or f64 for parameters of f64
/// errors  G49 the topology loses values, or does not connect all replicas
/// source  Assran et al., arXiv:1811.10792, algorithm 1; Kempe et al., FOCS 2003 (push-sum)
template <class T = one_peer_exponential>
struct stochastic_gradient_push : detail::push_sum {
  using topology_type = typename detail::usable_topology<T>::type;
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    auto const send = r.template hop<topology_type>();
    auto const w = weight(r.scope);
    auto const share = 1 / detail::in_f64(w) - 1;
    for (int i = 0; i < r.size(); ++i) {  // all parameters before the first message, so that all travel as one
      auto const p = detail::in_f64(r[i].before), next = detail::in_f64(r[i].after);
      r.set(r[i], cast<Replica::type>(next + (next - p) * share));
    }
    detail::push_sum_round const round(send, w);
    for (int i = 0; i < r.size(); ++i) r.set(r[i], cast<Replica::type>(round.mean(r[i].after, r[i].before)));
    r.scope.update(w, round.after);
  }
};

/// Stochastic gradient push whose messages travel while the gradients are computed. The numerators are sent at the
/// head of a step, and the step of the optimizer is added to the shares that arrive: x ← P x + (p' − p).
///
/// layout, state, errors  as of `stochastic_gradient_push`
/// source  Assran et al., arXiv:1811.10792, algorithm 2 with messages of age 1
template <class T = one_peer_exponential>
struct overlapped_gradient_push : detail::push_sum {
  using topology_type = typename detail::usable_topology<T>::type;
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    auto const send = r.template hop<topology_type>();
    auto const w = weight(r.scope);
    detail::push_sum_round const round(send, w);
    for (int i = 0; i < r.size(); ++i) {
      auto const p = detail::in_f64(r[i].before), next = detail::in_f64(r[i].after);
      auto const mixed = round.mean(r[i].before, r[i].before);
      r.set(r[i], cast<Replica::type>(mixed + (next - p) / detail::in_f64(round.after)));
    }
    r.scope.update(w, round.after);
  }
};

/// Stochastic gradient push without the weight, for comparisons: p ← P p′. On a topology whose replicas receive more or
/// less than they send, the result is biased. `decentralized_sgd` is `overlapped_gradient_push` without the weight.
///
/// layout, errors  as of `stochastic_gradient_push`
/// source  Assran et al., arXiv:1811.10792, section 6 (biased)
template <class T = one_peer_exponential>
struct biased_gradient_push {
  using topology_type = typename detail::usable_topology<T>::type;
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    auto const send = r.template hop<topology_type>();
    for (int i = 0; i < r.size(); ++i) r.set(r[i], send(r[i].after, r[i].before));
  }
};

}  // namespace meshtensor
