// SPDX-License-Identifier: Apache-2.0
// Adam and AdamW.
#pragma once

#include "meshtensor/nn/optimizer.hpp"

namespace meshtensor {
namespace nn {
namespace detail {

template <dtype T>
struct adam_step {
  number rate, beta_1, beta_2;
  tensor<T> kept_1, new_1, kept_2, new_2, epsilon, decay;
  bool decays, may_divide_by_zero;
  nn::decayed which = nn::decayed::all;
  constexpr any_tensor<T> operator()(auto const& s, any_tensor<T> const& p, any_tensor<T> const& g) const {
    builder& b = s.graph_builder();
    number const t = this_update(s, p);
    number const unbias_1 = row(s, 1 - power(beta_1, t)), unbias_2 = row(s, 1 - power(beta_2, t));
    auto const speed = own_tensor<T>(s, rate / unbias_1);
    auto const correction = own_tensor<T>(s, rsqrt(unbias_2));
    auto const m_before = s.state_like("m", p);
    auto const v_before = s.state_like("v", p);
    auto const m_new = g * new_1;
    auto const m = m_before * kept_1 + m_new;
    auto const v_new = g * g * new_2;
    auto const v = v_before * kept_2 + v_new;
    s.update(m_before, m);
    s.update(v_before, v);
    any_tensor<T> const width = sqrt(v) * correction + epsilon;
    auto const moved = m * speed / as_divisor(width, may_divide_by_zero);
    bool const shrinks = decays && (which == nn::decayed::all || parameter_dims(b, p.id).own.count > 1);
    return shrinks ? p * decay - moved : p - moved;
  }
};

/// 1 − beta, the share of a new gradient in a mean. If beta is known only in a step, it is checked before the step.
template <dtype T, scope S>
constexpr tensor<T> share_of_new(S const& s, number const& beta, bool is_known) {
  builder& b = s.graph_builder();
  number_id const row = b.add_number(1 - beta);
  bool const is_computed =
      b.depth != 0 && (counts_updates(b.m, row) || meshtensor::detail::counts_steps_of_call(b.m, row));
  if (is_known || is_computed) return own_tensor<T>(s, 1 - beta);
  constant_attributes const share{.number = row, .is_share = true};
  return tensor<T>(&b, add_node<constant_rule>(b, {}, share.packed(), {T}));
}

/// Whether a number may be a beta. If it is a literal, it must be at least 0 and less than 1.
constexpr bool may_be_beta(number const& n) {
  if (n.count != 1 || n.items[0].kind != number::item::literal) return true;
  double const beta = n.items[0].value.real;
  return beta >= 0 && beta < 1;
}

template <dtype T, scope S>
constexpr adam_step<T> adam_of(S const& s, number const& learning_rate, number const& beta_1, number const& beta_2,
                               number const& epsilon, number const& weight_decay, bool decays,
                               nn::decayed which = nn::decayed::all) {
  builder& b = s.graph_builder();
  b.expect(may_be_beta(beta_1) && may_be_beta(beta_2), "T51 adam: beta_1 and beta_2 are at least 0 and less than 1");
  auto const as_one = [&](number const& n) { return own_tensor<T>(s, n); };
  number const rate = own_row(s, learning_rate), first = own_row(s, beta_1), second = own_row(s, beta_2);
  auto const kept_1 = as_one(first);
  auto const new_1 = share_of_new<T>(s, first, !may_be(beta_1, 1));
  auto const kept_2 = as_one(second);
  auto const new_2 = share_of_new<T>(s, second, !may_be(beta_2, 1));
  auto const small = as_one(own_row(s, epsilon));
  auto const decay = decays ? as_one(1 - rate * own_row(s, weight_decay)) : small;
  return {rate, first, second, kept_1, new_1, kept_2, new_2, small, decay, decays, may_be(epsilon, 0), which};
}

}  // namespace detail

/// Adam: p ← p − learning_rate · m̂ / (√v̂ + epsilon). Here m and v are the running means of the gradient and of its
/// square. They start at zero, and are corrected for it by the number of the parameter's update, t = 1, 2, …: m̂ = m /
/// (1 − beta_1^t), v̂ = v / (1 − beta_2^t). An element whose gradients have all been zero does not change, even if
/// epsilon is 0.
///
/// state   m and v, like the parameter
/// errors  T51 beta_1 or beta_2 is not at least 0 and less than 1, as a literal or as a number that a run sets
/// source  Kingma and Ba, arXiv:1412.6980
struct adam {
  static constexpr name label = "adam";
  number learning_rate = 1e-3;
  number beta_1 = 0.9, beta_2 = 0.999;
  number epsilon = 1e-8;
  number clip_norm = {};

  template <class S, class What = detail::no_loss, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what = {}, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::adam_step<T> prepare(S const& s) const {
    return detail::adam_of<T>(s, learning_rate, beta_1, beta_2, epsilon, 0, false);
  }
};

/// Adam with decoupled weight decay: p ← (1 − learning_rate · weight_decay) · p − learning_rate · m̂ / (√v̂ + epsilon).
/// It decays every parameter that it changes, biases and gains too. With `.decayed = mt::decayed::matrices`, biases and
/// gains do not decay. The third argument of `minimize` restricts which parameters change at all.
///
/// state   m and v, like the parameter
/// source  Loshchilov and Hutter, arXiv:1711.05101
struct adamw {
  static constexpr name label = "adamw";
  number learning_rate = 1e-3;
  number beta_1 = 0.9, beta_2 = 0.999;
  number epsilon = 1e-8;
  number weight_decay = 0.01;
  number clip_norm = {};
  nn::decayed decayed = nn::decayed::all;

  template <class S, class What = detail::no_loss, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what = {}, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::adam_step<T> prepare(S const& s) const {
    return detail::adam_of<T>(s, learning_rate, beta_1, beta_2, epsilon, weight_decay, true, decayed);
  }
};

}  // namespace nn

using nn::adam, nn::adamw;

}  // namespace meshtensor
