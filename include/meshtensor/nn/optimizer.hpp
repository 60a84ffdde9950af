// SPDX-License-Identifier: Apache-2.0
// Optimizers (sgd, momentum, adam, adamw): they replace every parameter by its next value. Every hyperparameter is a
// number.
#pragma once

#include "meshtensor/nn/schedule.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor {
namespace nn {
namespace detail {

/// min(1, limit / √Σ g²) over all gradients: the factor that clips their global norm to `limit`.
template <dtype T>
constexpr tensor<T> clipping(gradients<T> const& g, number const& limit) {
  builder& b = *g.owner;
  value_id total = no_id;
  for (int i = 0; i < g.size(); ++i) {
    auto const dp = g[i].gradient;
    value_id const squares = sum(dp * dp).id;
    total = i == 0 ? squares : add(b, total, squares);
  }
  auto const most = meshtensor::detail::as_tensor<T>(b, limit);
  return most / maximum(sqrt(tensor<T>(&b, total)), most);
}

/// Stands for the scope of the parameters: all of them.
struct all_parameters {
  constexpr path_id path() const { return no_id; }
};

/// The gradients by the parameters under a path: of a loss, or taken from given gradients.
template <dtype T, class What>
constexpr gradients<T> gradients_of(builder& b, What const& what, path_id root) {
  gradients<T> g{&b, {}, {}};
  b.expect(what.owner == &b, "G18 a tensor of one program is used in another");
  if constexpr (handle<What>) {
    g = meshtensor::detail::gradients_under<T>(b, what.id, root);
  } else {
    for (int i = 0; i < what.size(); ++i)
      if (meshtensor::detail::is_parameter(b.m, what.parameters.at[i], T, root))
        g.parameters.add(what.parameters.at[i]), g.values.add(what.values.at[i]);
  }
  if (g.size() != 0) return g;
  diagnostic d{};
  add_scope(d << "G28 minimize finds no parameter of dtype " << text_of(T) << " declared before it in ", b.m, root);
  b.note(d << ": call it after the layers, with a loss of their outputs");
  return g;
}

template <class What, dtype T>
constexpr bool can_be_minimized() {
  if constexpr (handle<What>) {
    if constexpr (!of_float<What>)
      static_assert(is_valid<meshtensor::detail::wrong<"T04 minimize: the loss is not a float", What>>);
    if constexpr (!(meshtensor::detail::may_be_scalar<What>))
      static_assert(
          is_valid<meshtensor::detail::wrong<"T03 minimize: the loss has dims: take its sum or mean first", What>>);
    return of_float<What> && meshtensor::detail::may_be_scalar<What>;
  } else {
    static_assert(std::is_same_v<What, gradients<T>>,
                  "meshtensor T11: minimize takes a loss, or gradients by the program's parameters");
    return std::is_same_v<What, gradients<T>>;
  }
}

/// The number of the update that an optimizer is about to make to a parameter: 1 for the first.
template <scope S, dtype T>
constexpr number this_update(S const& s, any_tensor<T> const& p) {
  return row(s, s.updates(s.path_for(p)) + 1);
}

/// The common part of all optimizers: gradients, clipped if a limit is given, and one update for each parameter.
template <class How, scope S, class What, class P>
constexpr void minimize(How const& how, S const& s, What const& what, P const& parameters, line const& where) {
  constexpr dtype T = meshtensor::detail::parameters_of<S>::value;
  if constexpr (!requires { parameters.path(); }) {
    static_assert(
        is_valid<meshtensor::detail::wrong<
            "T11 minimize: the third argument is the scope of the parameters to change, s / \"network\"", P>>);
  } else if constexpr (can_be_minimized<What, T>()) {
    builder& b = s.recorder();
    auto const here = s.enter();
    meshtensor::detail::composed const at_line(&b, where);
    gradients<T> const g = gradients_of<T>(b, what, parameters.path());
    bool const clips = how.clip_norm.count != 0;
    value_id const factor = clips ? clipping(g, own_row(s, how.clip_norm)).id : no_id;
    auto const step = how.template prepare<T>(s);
    for (int i = 0; i < g.size(); ++i) {
      auto const [p, dp] = g[i];
      any_tensor<T> const clipped = clips ? any_tensor<T>(dp * tensor<T>(&b, factor)) : dp;
      s.counted_update(p, step(s, p, clipped), s.path_for(p));
    }
  }
}

template <dtype T>
struct sgd_step {
  tensor<T> rate;
  constexpr any_tensor<T> operator()(auto const&, any_tensor<T> const& p, any_tensor<T> const& g) const {
    return p - g * rate;
  }
};

template <dtype T>
struct momentum_step {
  tensor<T> rate, kept;
  bool nesterov;
  constexpr any_tensor<T> operator()(auto const& s, any_tensor<T> const& p, any_tensor<T> const& g) const {
    auto const before = s.state_like("velocity", p);
    auto const velocity = before * kept + g;
    s.update(before, velocity);
    return nesterov ? p - (velocity * kept + g) * rate : p - velocity * rate;
  }
};

template <dtype T>
struct adam_step {
  number rate, beta_1, beta_2;
  tensor<T> kept_1, new_1, kept_2, new_2, epsilon, decay;
  bool decays;
  constexpr any_tensor<T> operator()(auto const& s, any_tensor<T> const& p, any_tensor<T> const& g) const {
    builder& b = s.recorder();
    number const t = this_update(s, p);
    number const unbias_1 = row(s, 1 - power(beta_1, t)), unbias_2 = row(s, 1 - power(beta_2, t));
    auto const speed = meshtensor::detail::as_tensor<T>(b, rate / unbias_1);
    auto const correction = meshtensor::detail::as_tensor<T>(b, rsqrt(unbias_2));
    auto const m_before = s.state_like("m", p);
    auto const v_before = s.state_like("v", p);
    auto const m_new = g * new_1;
    auto const m = m_before * kept_1 + m_new;
    auto const v_new = g * g * new_2;
    auto const v = v_before * kept_2 + v_new;
    s.update(m_before, m);
    s.update(v_before, v);
    auto const width = sqrt(v) * correction + epsilon;
    auto const moved = m * speed / width;
    return decays ? p * decay - moved : p - moved;
  }
};

template <dtype T, scope S>
constexpr adam_step<T> adam_of(S const& s, number const& learning_rate, number const& beta_1, number const& beta_2,
                               number const& epsilon, number const& weight_decay, bool decays) {
  builder& b = s.recorder();
  auto const as_one = [&](number const& n) { return meshtensor::detail::as_tensor<T>(b, n); };
  number const rate = own_row(s, learning_rate), first = own_row(s, beta_1), second = own_row(s, beta_2);
  auto const kept_1 = as_one(first);
  auto const new_1 = as_one(1 - first);
  auto const kept_2 = as_one(second);
  auto const new_2 = as_one(1 - second);
  auto const small = as_one(own_row(s, epsilon));
  auto const decay = decays ? as_one(1 - rate * own_row(s, weight_decay)) : small;
  return {rate, first, second, kept_1, new_1, kept_2, new_2, small, decay, decays};
}

}  // namespace detail

/// Stochastic gradient descent: p ← p − learning_rate · g.
///
/// `minimize(s / "optimizer", loss)` updates all parameters that the loss was computed from, but not those that are
/// only read through `stop_gradient`; with a scope as a third argument, those of them that are declared under it.
/// Instead of a loss it takes gradients, as `accumulate` and `gradient_by_parameters` return them. `clip_norm`, if
/// given, limits the global norm of all gradients. Every number may be `s.number("…", …)` or a schedule, which then
/// follows the updates made under this scope. The updates of each parameter are counted separately, by the scope's path
/// and its own. All this holds for all optimizers.
struct sgd {
  number learning_rate = 0.1;
  number clip_norm = {};

  template <scope S, class What, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::sgd_step<T> prepare(S const& s) const {
    return {meshtensor::detail::as_tensor<T>(s.recorder(), detail::own_row(s, learning_rate))};
  }
};

/// SGD with momentum: v ← decay · v + g, without dampening, then p ← p − learning_rate · v; in Nesterov's form p ← p −
/// learning_rate · (decay · v + g).
///
/// state   velocity, like the parameter
/// source  Polyak 1964; Sutskever et al., ICML 2013
struct momentum {
  number learning_rate = 0.1;
  number decay = 0.9;
  number clip_norm = {};
  bool nesterov = false;

  template <scope S, class What, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::momentum_step<T> prepare(S const& s) const {
    auto const rate = meshtensor::detail::as_tensor<T>(s.recorder(), detail::own_row(s, learning_rate));
    auto const kept = meshtensor::detail::as_tensor<T>(s.recorder(), detail::own_row(s, decay));
    return {rate, kept, nesterov};
  }
};

/// Adam: p ← p − learning_rate · m̂ / (√v̂ + epsilon), with m and v the running means of the gradient and of its
/// square, corrected for their start at zero by the number of the parameter's update, t = 1, 2, …: m̂ = m / (1 −
/// beta_1^t), v̂ = v / (1 − beta_2^t).
///
/// state   m and v, like the parameter
/// source  Kingma and Ba, arXiv:1412.6980
struct adam {
  number learning_rate = 1e-3;
  number beta_1 = 0.9, beta_2 = 0.999;
  number epsilon = 1e-8;
  number clip_norm = {};

  template <scope S, class What, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::adam_step<T> prepare(S const& s) const {
    return detail::adam_of<T>(s, learning_rate, beta_1, beta_2, epsilon, 0, false);
  }
};

/// Adam with decoupled weight decay: p ← (1 − learning_rate · weight_decay) · p − learning_rate · m̂ / (√v̂ + epsilon).
/// It decays every parameter that it changes, biases and gains too; the third argument of `minimize` restricts these.
///
/// state   m and v, like the parameter
/// source  Loshchilov and Hutter, arXiv:1711.05101
struct adamw {
  number learning_rate = 1e-3;
  number beta_1 = 0.9, beta_2 = 0.999;
  number epsilon = 1e-8;
  number weight_decay = 0.01;
  number clip_norm = {};

  template <scope S, class What, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::adam_step<T> prepare(S const& s) const {
    return detail::adam_of<T>(s, learning_rate, beta_1, beta_2, epsilon, weight_decay, true);
  }
};

}  // namespace nn

using nn::adam, nn::adamw, nn::momentum, nn::sgd;

}  // namespace meshtensor
