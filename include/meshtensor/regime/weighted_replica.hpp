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

template <class Whole, class Policy, bool BeginsEqual, class Replica>
class weighted_replica;
template <class Whole, class Policy, bool BeginsEqual>
struct weighted_replicas {
  template <class Replica>
  static constexpr auto of(Replica const& r) {
    return weighted_replica<Whole, Policy, BeginsEqual, Replica>(r);
  }
};

/// A replica as `Policy` sees it, which is a part of `Whole`. If `Whole` has a weight and `Policy` has none, a mean of
/// values of parameters is weighted. `BeginsEqual` says whether `Whole` lets `Policy` begin with equal replicas, if it
/// begins with equal ones itself.
template <class Whole, class Policy, bool BeginsEqual, class Replica>
class weighted_replica : public wrapped_replica<Replica, weighted_replicas<Whole, Policy, BeginsEqual>> {
  static constexpr bool weights = has_weight<Whole> && !has_weight<Policy>;

 public:
  static constexpr bool starts_equal = BeginsEqual && Replica::starts_equal;
  using wrapped_replica<Replica, weighted_replicas<Whole, Policy, BeginsEqual>>::wrapped_replica;

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
    return Replica::mean(x, parameter);
  }
  template <class Start>
  constexpr any_tensor<Replica::type> mean_from(Start const& start, updated_parameter<Replica::type> const& p) const {
    if constexpr (!weights) {
      return Replica::mean_from(start, p);
    } else if constexpr (!Replica::compresses) {
      return mean(p.after);
    } else {
      require_common_start<weighted_replica>();
      auto const w = Whole::weight(this->scope);
      any_tensor<Replica::type> const change = p.after - start;
      return start + divided(Replica::mean(scaled(change, w), p.before), Replica::mean(w));
    }
  }
};

}  // namespace meshtensor::detail
