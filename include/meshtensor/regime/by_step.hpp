// SPDX-License-Identifier: Apache-2.0
// One policy in some steps and another one in the others, for example averages at first and gossip later.
#pragma once

#include "meshtensor/regime/policy.hpp"
#include "meshtensor/regime/weighted_replica.hpp"

namespace meshtensor {

/// The first `Steps` steps, for `by_step`.
template <int Steps>
struct first_steps {
  static_assert(Steps > 0, "meshtensor S23: first_steps<steps> has at least one step");
  static constexpr int first_later = Steps;  // the step in which the second policy begins to count
  template <class Replica>
  static constexpr auto holds(Replica const& r) {
    return full(r.scope, r.round(), f64) < Steps;
  }
};
/// Every `Steps`-th step, for `by_step`.
template <int Steps>
struct every_nth_step {
  static_assert(Steps > 0, "meshtensor S23: every_nth_step<steps> has at least one step");
  static constexpr int first_later = 0;
  template <class Replica>
  static constexpr auto holds(Replica const& r) {
    return r.ends(Steps);
  }
};

/// A policy that is `First` in some steps, and `Then` in all others:
///
///     mt::by_step<mt::first_steps<500>, mt::synchronous, mt::local_sgd<8>>
///     mt::by_step<mt::every_nth_step<48>, mt::local_sgd<1>, mt::stochastic_gradient_push<>>
///
/// The first line is post-local SGD, and the second one is gossip that takes an exact average at times.
///
/// After `first_steps<500>`, the second policy counts its steps from 0, so that its first period is whole. If one of
/// the two is stochastic gradient push, a mean of parameters that the other one takes is weighted by the push-sum
/// weights, so that their sum is kept.
///
/// layout  each step sends what its policy sends. Messages in the branches begin after the gradients
/// state   that of both
/// errors  G50 a policy that averages gradients is not the first one of `first_steps`: replicas would not be equal
/// there. Or it sends compressed means of parameters, and may begin with replicas that differ
/// source  Lin et al. 2018, arXiv:1808.07217, algorithm 1 (post-local SGD); Assran et al. 2019, arXiv:1811.10792,
///         section 6 (hybrids); Chen et al. 2021, arXiv:2105.09080 (periodic averages)
template <class Steps, class First, class Then>
struct by_step : detail::weight_of<First, Then> {
  template <class Replica, handle G>
  requires detail::exchanges_gradients<First, Replica> || detail::exchanges_gradients<Then, Replica>
  constexpr G gradient(Replica const& r, G const& g, G const& parameter) const {
    static_assert(
        Steps::first_later != 0 && !detail::exchanges_gradients<Then, Replica>,
        "meshtensor G50: by_step: a policy that averages gradients needs replicas that are equal, so it is the "
        "first one, of mt::first_steps: mt::local_sgd<1> averages parameters instead");
    return r.chosen(
        Steps::holds(r), [&](auto const& one) { return detail::exchanged_gradient(First{}, one, g, parameter); },
        [&](auto const&) { return g; });
  }
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    r.either(
        Steps::holds(r), [](auto const& one) { run<First, Steps::first_later != 0>(one, 0); },
        [](auto const& one) { run<Then, Steps::first_later != 0 && keeps_equal<Replica>>(one, Steps::first_later); });
  }

 private:
  /// Whether all replicas have the same parameters after each step of the first policy.
  template <class Replica>
  static constexpr bool keeps_equal =
      detail::exchanges_gradients<First, Replica> && !detail::changes_updates<First, Replica>;

  template <class Policy, bool BeginsEqual, class Replica>
  static constexpr void run(Replica const& r, int first) {
    detail::weighted_replica<by_step, Policy, BeginsEqual, Replica> one(r);
    one.count_from(first);
    if constexpr (detail::changes_updates<Policy, decltype(one)>) {
      for (int i = 0; i < one.size(); ++i) one.set(one[i], one[i].after);  // so that branches inside may replace them
      Policy{}.after_update(one);
    }
  }
};

}  // namespace meshtensor
