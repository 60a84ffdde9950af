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
  static constexpr bool alternates = false;
  static constexpr std::int64_t equal_steps(std::int64_t of_first) { return of_first < Steps ? of_first : Steps; }
  template <class Replica>
  static constexpr auto holds(Replica const& r) {
    return full(r.scope, r.round(), f64) < Steps;
  }
  /// Whether the step is the last one of the first policy.
  template <class Replica>
  static constexpr auto hands_over(Replica const& r) {
    return full(r.scope, r.round(), f64) == Steps - 1;
  }
  template <class Replica>
  static constexpr void count_first(Replica const& of_whole, auto& r) {
    number const n = of_whole.round();
    r.count_turns(n, of_whole.steps_since_turn() + maximum(n - (Steps - 1), 0));
  }
  template <class Replica>
  static constexpr void count_then(Replica const& of_whole, auto& r) {
    number const n = of_whole.round();
    r.count_turns(n - Steps, of_whole.steps_since_turn() + maximum(Steps - n, 0));
  }
};
/// Every `Steps`-th step, for `by_step`.
template <int Steps>
struct every_nth_step {
  static_assert(Steps > 0, "meshtensor S23: every_nth_step<steps> has at least one step");
  static constexpr bool alternates = true;
  static constexpr std::int64_t equal_steps(std::int64_t) { return 0; }
  template <class Replica>
  static constexpr auto holds(Replica const& r) {
    return r.ends(Steps);
  }
  template <class Replica>
  static constexpr void count_first(Replica const& of_whole, auto& r) {
    number const n = of_whole.round();
    r.count_turns(floor(n / Steps), of_whole.steps_since_turn() + n % Steps);
  }
  template <class Replica>
  static constexpr void count_then(Replica const& of_whole, auto& r) {
    number const n = of_whole.round(), is_later = maximum(minimum(n, 1), 0);
    r.count_turns(n - floor(n / Steps), of_whole.steps_since_turn() + is_later * maximum(1 - n % Steps, 0));
  }
};

/// A policy that is `First` in some steps, and `Then` in all others:
///
///     mt::by_step<mt::first_steps<500>, mt::synchronous, mt::local_sgd<8>>
///     mt::by_step<mt::every_nth_step<48>, mt::slow_momentum<1>, mt::stochastic_gradient_push<>>
///
/// The first line is post-local SGD, and the second one is gossip that takes an exact average with a slow momentum at
/// times (SGP-SlowMo).
///
/// Each policy counts periods and rounds of topologies by its own turns, from 0. A period begins with the step after
/// the end of the one before it, which may be a step of the other policy. So in the second line, `slow_momentum` takes
/// the way of all 48 steps of a period.
///
/// If one of the two is stochastic gradient push, a mean of parameters that the other one takes is weighted by the
/// push-sum weights, so that the mean keeps the sum of numerators. There the step of a replica's optimizer counts by
/// its weight. If `first_steps` is followed by a policy without the weight, its last step gives all replicas their
/// weighted mean, and equal weights.
///
/// layout  each step sends what its policy sends. Messages in the branches begin after the gradients
/// state   that of both. A state of the same name and kind is one state, such as the velocity of two outer optimizers
/// errors  G50 a policy that averages gradients is not the first one of `first_steps`: replicas would not be equal
///         there. Or it sends compressed means of parameters, and may begin with replicas that differ. Or both policies
///         of `every_nth_step` keep the start of a period. Or one mixes parameters without the weight that the other
///         one changes
/// source  Lin et al. 2018, arXiv:1808.07217, algorithm 1 (post-local SGD); Assran et al. 2019, arXiv:1811.10792,
///         section 6 (hybrids); Chen et al. 2021, arXiv:2105.09080 (periodic averages); Wang et al. 2019,
///         arXiv:1910.00643 (slow momentum around SGP)
template <class Steps, class First, class Then>
struct by_step : detail::weight_of<First, Then> {
  template <class Replica, handle G>
  requires detail::exchanges_gradients<First, Replica> || detail::exchanges_gradients<Then, Replica>
  constexpr G gradient(Replica const& r, G const& g, G const& parameter) const {
    constexpr bool is_first = !Steps::alternates && !detail::exchanges_gradients<Then, Replica>;
    static_assert(
        is_first,
        "meshtensor G50: by_step: a policy that averages gradients needs replicas that are equal, so it is the "
        "first one, of mt::first_steps: mt::local_sgd<1> averages parameters instead");
    if constexpr (is_first)
      return r.chosen(
          Steps::holds(r), [&](auto const& one) { return detail::exchanged_gradient(First{}, one, g, parameter); },
          [&](auto const&) { return g; });
    else return g;
  }
  template <class Replica>
  static constexpr replica_sharing sharing() {
    replica_sharing const a = detail::sharing_of<First, Replica>(), b = detail::sharing_of<Then, Replica>();
    bool const start = a.needs_start || b.needs_start;
    return {Steps::equal_steps(a.equal_before), Steps::equal_steps(a.equal_after), start, start, true};
  }
  template <class Replica>
  static constexpr bool keeps_start = detail::keeps_start<First, Replica> || detail::keeps_start<Then, Replica>;
  template <class Replica>
  constexpr void keep_start(Replica const& r) const {
    if constexpr (detail::keeps_start<First, Replica>) First{}.keep_start(part<true, Replica::starts_kept_by>(r));
    if constexpr (detail::keeps_start<Then, Replica>) Then{}.keep_start(part<false, Replica::starts_kept_by>(r));
  }
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    static_assert(
        !Steps::alternates || !detail::keeps_start<First, Replica> || !detail::keeps_start<Then, Replica>,
        "meshtensor G50: by_step: both policies of mt::every_nth_step keep the parameters from the start of a "
        "period, in the same state: let one of them be mt::local_sgd, which keeps none");
    if constexpr (Steps::alternates && Replica::starts_kept_by == detail::start_keeper::policy) keep_start(r);
    r.either(
        Steps::holds(r), [](auto const& one) { run<First>(part<true, keeper<First, Replica>>(one)); },
        [](auto const& one) { run<Then>(part<false, keeper<Then, Replica>>(one)); });
    if constexpr (hands_over) r.when(Steps::hands_over(r), [](auto const& one) { give_mean(one); });
  }

 private:
  /// Whether the first policy leaves weights that the second one would not mix.
  static constexpr bool hands_over = !Steps::alternates && detail::has_weight<First> && !detail::has_weight<Then>;
  /// Whether all replicas have the same parameters after each step of the first policy.
  template <class Replica>
  static constexpr bool keeps_equal =
      detail::exchanges_gradients<First, Replica> && !detail::changes_updates<First, Replica>;
  /// The keeper of starts of periods while a policy runs.
  template <class Policy, class Replica>
  static constexpr detail::start_keeper keeper = [] {
    using enum detail::start_keeper;
    if constexpr (Replica::starts_kept_by == nobody) return nobody;
    else if constexpr (Replica::starts_kept_by == policy && !Steps::alternates) return policy;
    else return detail::keeps_start<Policy, Replica> ? by_step : nobody;
  }();

  /// The replica as one of the policies sees it.
  template <bool IsFirst, detail::start_keeper Keeper, class Replica>
  static constexpr auto part(Replica const& r) {
    using policy = std::conditional_t<IsFirst, First, Then>;
    using other = std::conditional_t<IsFirst, Then, First>;
    constexpr bool follows = !Steps::alternates && !IsFirst;
    constexpr bool is_handed_equal = hands_over || (keeps_equal<Replica> && Replica::starts_equal);
    constexpr detail::facts_of_part facts{
        .starts_equal = follows ? is_handed_equal : !Steps::alternates && Replica::starts_equal,
        .first_period_starts_equal = follows ? is_handed_equal : Replica::first_period_starts_equal,
        .weights_change = Replica::weights_change || (Steps::alternates && detail::has_weight<other>),
        .starts_kept_by = Keeper};
    detail::weighted_replica<by_step, policy, facts, Replica> one(r);
    if constexpr (IsFirst) Steps::count_first(r, one);
    else Steps::count_then(r, one);
    return one;
  }
  template <class Policy, class Replica>
  static constexpr void run(Replica const& r) {
    if constexpr (detail::changes_updates<Policy, Replica>) {
      for (int i = 0; i < r.size(); ++i) r.set(r[i], r[i].after);  // so that branches inside may replace them
      Policy{}.after_update(r);
    }
  }
  /// Gives all replicas the mean of numerators as their parameters, and the mean of weights.
  template <class Replica>
  static constexpr void give_mean(Replica const& r) {
    constexpr dtype type = Replica::type;
    auto const w = by_step::weight(r.scope), now = r.scope.next(w), all = r.mean(now);
    for (int i = 0; i < r.size(); ++i)
      r.set(r[i], r.mean(any_tensor<type>(r[i].after * cast<type>(now))) / cast<type>(all));
    r.scope.amend(w, all);
  }
};

}  // namespace meshtensor
