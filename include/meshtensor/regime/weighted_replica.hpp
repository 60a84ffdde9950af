// SPDX-License-Identifier: Apache-2.0
// A replica whose means of parameters are weighted as another policy needs it.
#pragma once

#include "meshtensor/regime/wrapped_replica.hpp"

namespace meshtensor::detail {

template <class Policy>
concept has_weight = requires { &Policy::template weight<trace_scope<>>; };

/// The push-sum weight of the first policy that has one.
template <class First, class Then>
struct weight_of {};
template <class First, class Then>
requires has_weight<First> || has_weight<Then>
struct weight_of<First, Then> {
  template <scope S>
  static constexpr auto weight(S const& s) {
    if constexpr (has_weight<First>) return First::weight(s);
    else return Then::weight(s);
  }
};

/// The facts that a policy in `by_step` knows of its replicas. The names are those of `training_replica`.
struct facts_of_part {
  bool starts_equal, first_period_starts_equal, weights_change;
  start_keeper starts_kept_by;
};

template <class Whole, class Policy, facts_of_part Facts, class Replica>
class weighted_replica;
template <class Whole, class Policy, facts_of_part Facts>
struct weighted_replicas {
  template <class Replica>
  static constexpr auto of(Replica const& r) {
    return weighted_replica<Whole, Policy, Facts, Replica>(r);
  }
};

/// A replica as `Policy` sees it, which is a part of `Whole`. If `Whole` has a weight and `Policy` has none, a mean of
/// values of parameters is weighted.
template <class Whole, class Policy, facts_of_part Facts, class Replica>
class weighted_replica : public wrapped_replica<Replica, weighted_replicas<Whole, Policy, Facts>> {
  static constexpr bool weights = has_weight<Whole> && !has_weight<Policy>;

 public:
  static constexpr bool starts_equal = Facts.starts_equal;
  static constexpr bool first_period_starts_equal = Facts.first_period_starts_equal;
  static constexpr bool weights_change = Facts.weights_change;
  static constexpr start_keeper starts_kept_by = Facts.starts_kept_by;
  using wrapped_replica<Replica, weighted_replicas<Whole, Policy, Facts>>::wrapped_replica;

  template <handle X>
  constexpr X mean(X const& x) const {
    if constexpr (!weights) {
      return Replica::mean(x);
    } else {
      auto const w = Whole::weight(this->scope);
      return divided(Replica::mean(scaled(x, w)), Replica::mean(w));
    }
  }
  template <handle X>
  constexpr X mean(X const& x, X const& parameter) const {
    if constexpr (!weights) {
      return Replica::mean(x, parameter);
    } else {
      auto const w = Whole::weight(this->scope);
      return divided(Replica::mean(scaled(x, w), parameter), Replica::mean(w));
    }
  }
  template <class Start>
  constexpr any_tensor<Replica::type> mean_from(Start const& start, updated_parameter<Replica::type> const& p) const {
    if constexpr (!weights) {
      return Replica::mean_from(start, p);
    } else if constexpr (!Replica::compresses) {
      return mean(p.after);
    } else {
      require_common_start<weighted_replica>();
      return start + mean(any_tensor<Replica::type>(p.after - start), p.before);
    }
  }
  template <topology T, class... Round>
  constexpr auto hop(Round const&... round) const {
    static_assert(has_weight<Policy> || !weights_change,
                  "meshtensor G50: by_step: a policy without the push-sum weight mixes parameters along a topology, "
                  "but the other policy changes the weights: let both be mt::stochastic_gradient_push or "
                  "mt::overlapped_gradient_push, or one of them mt::local_sgd, whose means are weighted");
    return Replica::template hop<T>(round...);
  }
};

}  // namespace meshtensor::detail
