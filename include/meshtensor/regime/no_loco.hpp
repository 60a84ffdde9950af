// SPDX-License-Identifier: Apache-2.0
// NoLoCo: replicas train alone for some steps, and then random pairs of them take a step of an outer optimizer.
#pragma once

#include "meshtensor/regime/period_start.hpp"
#include "meshtensor/regime/random_topology.hpp"

namespace meshtensor {

/// A policy in which replicas take `Steps` steps alone, and then meet in pairs that a seed draws anew. Each has slow
/// parameters φ, from which its period began, and θ after the period. It takes the step v ← decay · v - learning_rate ·
/// mean(φ - θ) - attraction · (φ - mean(φ)), φ ← φ + v, where the means are those of the pair. The last term draws the
/// replicas together, because no step makes them equal. A policy of one's own sets the numbers as for `diloco`. `T` may
/// be another topology whose replicas receive as much as they send.
///
/// layout  with one replica a rank, a message of φ and θ to one rank in every step that ends a period
/// state   start and velocity, like each parameter
/// errors  G50 inside `compressed`: no message would be compressed
/// source  Kolehmainen et al. 2025, arXiv:2506.10911, with pairs as groups
template <int Steps, topology T = random_matching<1>>
struct no_loco {
  static_assert(Steps > 0, "meshtensor S23: a period has at least one step");
  int period = Steps;
  double learning_rate = 0.7, decay = 0.5, attraction = 1;

  static constexpr bool start_of_each_replica = true;
  template <class Replica>
  static constexpr bool keeps_start = true;
  template <class Replica>
  constexpr void keep_start(Replica const& r) const {
    detail::period_start::keep(r, period, false);
  }
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    static_assert(
        !Replica::compresses,
        "meshtensor G50: compressed: the pairs of mt::no_loco exchange whole parameters from before and after "
        "a period, which are no changes that a message could compress: write mt::no_loco without "
        "mt::compressed");
    keep_start(r);
    r.when(r.ends(period), [&](auto const& one) {
      auto const mean = one.template hop<T>(one.periods(period));
      for (int i = 0; i < one.size(); ++i) {
        auto const start = detail::period_start::of(one, one[i]);
        auto const middle = mean(start);
        auto const before = one.scope.state_like("velocity_of_pairs", one[i].before);
        auto const velocity =
            before * decay - (middle - mean(one[i].after)) * learning_rate - (start - middle) * attraction;
        one.scope.update(before, velocity);
        one.set(one[i], start + velocity);
      }
    });
  }
};

}  // namespace meshtensor
