// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent, plain and with momentum.
#pragma once

#include "meshtensor/nn/optimizer.hpp"

namespace meshtensor {
namespace nn {
namespace detail {

/// Weight decay as a part of the gradient: g + decay · p, for the parameters that decay.
template <dtype T>
struct decay_in_gradient {
  value_id factor;  // no_id if there is none
  decayed which;

  template <scope S>
  constexpr decay_in_gradient(S const& s, number const& given, decayed of)
      : factor(given.count == 0 ? no_id : detail::own_tensor<T>(s, own_row(s, given)).id), which(of) {}
  constexpr any_tensor<T> operator()(any_tensor<T> const& p, any_tensor<T> const& g) const {
    if (factor == no_id || (which == decayed::matrices && parameter_dims(*p.owner, p.id).own.count < 2)) return g;
    return g + p * tensor<T>(p.owner, factor);
  }
};

template <dtype T>
struct sgd_step {
  tensor<T> rate;
  decay_in_gradient<T> decays;
  constexpr any_tensor<T> operator()(auto const&, any_tensor<T> const& p, any_tensor<T> const& g) const {
    return p - decays(p, g) * rate;
  }
};

template <dtype T>
struct momentum_step {
  tensor<T> rate, kept;
  bool nesterov;
  decay_in_gradient<T> decays;
  constexpr any_tensor<T> operator()(auto const& s, any_tensor<T> const& p, any_tensor<T> const& gradient) const {
    auto const g = decays(p, gradient);
    auto const before = s.state_like("velocity", p);
    auto const velocity = before * kept + g;
    s.update(before, velocity);
    return nesterov ? p - (velocity * kept + g) * rate : p - velocity * rate;
  }
};

}  // namespace detail

/// Stochastic gradient descent: p ← p − learning_rate · g.
///
/// `minimize(s / "optimizer", loss)` updates all parameters that the loss was computed from, except parameters that are
/// only read through `stop_gradient`. If a scope is the third argument, it updates only the parameters that are
/// declared under this scope. Instead of a loss it takes gradients, as `accumulate` and `gradient_by_parameters` return
/// them. `clip_norm`, if given, limits the global norm of all gradients. Every number may be `s.number("…", …)` or a
/// schedule, which then follows the updates made under this scope. The updates of each parameter are counted
/// separately, by the path of the scope and the path of the parameter. All this holds for all optimizers.
///
/// `weight_decay`, if given, is a part of the gradient: after clipping, g + weight_decay · p takes the place of g. With
/// `.decayed = mt::decayed::matrices`, biases and gains do not decay.
struct sgd {
  static constexpr name label = "sgd";
  number learning_rate = 0.1;
  number clip_norm = {};
  number weight_decay = {};
  nn::decayed decayed = nn::decayed::all;

  template <class S, class What = detail::no_loss, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what = {}, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::sgd_step<T> prepare(S const& s) const {
    auto const rate = detail::own_tensor<T>(s, detail::own_row(s, learning_rate));
    return {rate, {s, weight_decay, decayed}};
  }
};

/// SGD with momentum: v ← decay · v + g, without dampening, then p ← p − learning_rate · v. In Nesterov's form, p ← p −
/// learning_rate · (decay · v + g).
///
/// state   velocity, like the parameter
/// source  Polyak 1964; Sutskever et al., ICML 2013
struct momentum {
  static constexpr name label = "momentum";
  number learning_rate = 0.1;
  number decay = 0.9;
  number clip_norm = {};
  bool nesterov = false;
  number weight_decay = {};  // as that of `sgd`
  nn::decayed decayed = nn::decayed::all;

  template <class S, class What = detail::no_loss, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what = {}, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::momentum_step<T> prepare(S const& s) const {
    auto const rate = detail::own_tensor<T>(s, detail::own_row(s, learning_rate));
    auto const kept = detail::own_tensor<T>(s, detail::own_row(s, decay));
    return {rate, kept, nesterov, {s, weight_decay, decayed}};
  }
};

}  // namespace nn

using nn::decayed, nn::momentum, nn::sgd;

}  // namespace meshtensor
