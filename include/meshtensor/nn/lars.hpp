// SPDX-License-Identifier: Apache-2.0
// LARS: momentum with a learning rate for each layer, for large batches.
#pragma once

#include "meshtensor/nn/optimizer.hpp"

namespace meshtensor {
namespace nn {
namespace detail {

template <dtype T>
struct lars_step {
  tensor<T> rate, kept, trust;
  value_id decay;  // no_id if there is none

  constexpr any_tensor<T> operator()(auto const& s, any_tensor<T> const& p, any_tensor<T> const& g) const {
    builder& b = s.graph_builder();
    parameter_dims const dims(b, p.id);
    auto const before = s.state_like("velocity", p);
    auto const velocity = before * kept + (dims.own.count < 2 ? any_tensor<T>(g * rate) : scaled(b, p, g, dims.own));
    s.update(before, velocity);
    return p - velocity;
  }

 private:
  static constexpr any_tensor<T> length(builder& b, any_tensor<T> const& x, shape const& own) {
    return length_of(x,
                     [&](any_tensor<T> const& y) { return any_tensor<T>(&b, reduce(b, reduction::sum, y.id, own)); });
  }
  constexpr any_tensor<T> scaled(builder& b, any_tensor<T> const& p, any_tensor<T> const& g, shape const& own) const {
    any_tensor<T> const weight_norm = length(b, p, own), gradient_norm = length(b, g, own);
    tensor<T> const shrink(&b, decay);
    any_tensor<T> const all = decay == no_id ? gradient_norm : any_tensor<T>(gradient_norm + weight_norm * shrink);
    any_tensor<T> const local = select(minimum(weight_norm, gradient_norm) == 0, 1, weight_norm * trust / all);
    return (decay == no_id ? g : any_tensor<T>(g + p * shrink)) * (local * rate);
  }
};

}  // namespace detail

/// SGD with momentum and a rate for each layer, for large batches: v ← decay · v + learning_rate · λ · (g +
/// weight_decay · p), then p ← p − v. Here λ = trust · |p| / (|g| + weight_decay · |p|), and λ = 1 if |p| or |g| is
/// zero. The lengths |·| are those of a whole parameter, so each iteration of an enclosing loop has its own. Parameters
/// with one dim or none, such as biases and gains, have λ = 1 and do not decay.
///
/// state   velocity, like the parameter
/// source  You et al., arXiv:1708.03888, algorithm 1; without biases and gains as in Goyal et al., arXiv:1706.02677
struct lars {
  static constexpr name label = "lars";
  number learning_rate = 0.1;
  number decay = 0.9;
  number weight_decay = {};
  number trust = 1e-3;
  number clip_norm = {};

  template <class S, class What = detail::no_loss, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what = {}, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::lars_step<T> prepare(S const& s) const {
    auto const as_one = [&](number const& n) { return detail::own_tensor<T>(s, detail::own_row(s, n)); };
    auto const rate = as_one(learning_rate);
    auto const kept = as_one(decay);
    auto const share = as_one(trust);
    return {rate, kept, share, weight_decay.count == 0 ? no_id : as_one(weight_decay).id};
  }
};

}  // namespace nn

using nn::lars;

}  // namespace meshtensor
