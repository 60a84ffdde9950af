// SPDX-License-Identifier: Apache-2.0
// Slow momentum and DiLoCo: replicas train alone for some steps, and an outer optimizer takes the mean of their ways as
// its gradient.
#pragma once

#include "meshtensor/regime/period_start.hpp"

namespace meshtensor {
namespace detail {

/// One step of SGD with momentum from the parameters at the start of a period. The gradient is the way back to them
/// from the mean of all replicas.
template <int Steps>
struct outer_step {
  static_assert(Steps > 0, "meshtensor S23: a period has at least one step");
  int period = Steps;
  double learning_rate, decay;
  bool nesterov;

  constexpr outer_step(double rate, double kept, bool looks_ahead)
      : learning_rate(rate), decay(kept), nesterov(looks_ahead) {}

  template <class Replica>
  static constexpr bool keeps_start = true;
  template <class Replica>
  constexpr void keep_start(Replica const& r) const {
    period_start::keep(r, period);
  }
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    keep_start(r);
    step(r, r.ends(period), [](int) { return true; });
  }

 protected:
  /// The outer step of the parameters that `of_period` chooses, if their period ends.
  template <class Replica, class Ends, class Chosen>
  constexpr void step(Replica const& r, Ends const& ends, Chosen const& of_period) const {
    r.when(ends, [&](auto const& one) {
      for (int i = 0; i < one.size(); ++i)
        if (of_period(i)) step(one, one[i]);
    });
  }

 private:
  template <class Replica, class Parameter>
  constexpr void step(Replica const& one, Parameter const& p) const {
    auto const start = period_start::of(one, p);
    auto const gradient = start - one.mean_from(start, p);
    auto const before = one.scope.state_like("velocity", p.before);
    auto const velocity = before * decay + gradient;
    one.scope.update(before, velocity);
    one.set(p, start - (nesterov ? velocity * decay + gradient : velocity) * learning_rate);
  }
};

}  // namespace detail

/// A policy in which replicas take `Steps` steps alone. Then each gets start − learning_rate · velocity, where velocity
/// ← decay · velocity + (start − mean), `start` are the parameters at the start of the period, and `mean` is the mean
/// of all replicas. A policy of one's own sets the numbers: `struct mine : mt::slow_momentum<50> { constexpr mine() {
/// decay = 0.8; } };`. The member `period` begins as `Steps`, and may be set when the policy is traced.
///
/// layout  an all_reduce of the parameters in every step that ends a period, and nothing in the others
/// state   start and velocity, like each parameter
/// source  Wang et al., arXiv:1910.00643, algorithm 1, with a base optimizer of constant learning rate
template <int Steps>
struct slow_momentum : detail::outer_step<Steps> {
  constexpr slow_momentum() : detail::outer_step<Steps>(1, 0.5, false) {}
};

/// A policy in which replicas take `Steps` steps alone, with AdamW as a rule, and an outer Nesterov momentum takes the
/// mean of their ways as its gradient.
///
/// layout, state  as of `slow_momentum`
/// source  Douillard et al., arXiv:2311.08105, algorithm 1
template <int Steps>
struct diloco : detail::outer_step<Steps> {
  constexpr diloco() : detail::outer_step<Steps>(0.7, 0.9, true) {}
};

}  // namespace meshtensor
