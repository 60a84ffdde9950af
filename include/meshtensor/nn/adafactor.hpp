// SPDX-License-Identifier: Apache-2.0
// Adafactor: an optimizer whose state is far smaller than the parameters.
#pragma once

#include "meshtensor/nn/optimizer.hpp"

namespace meshtensor {
namespace nn {
namespace detail {

/// The number of elements along dims.
constexpr number elements_of(builder& b, shape const& along) {
  number parts = 1;
  for (int i = 0; i < along.count; ++i) {
    number_row const extent{number_row::extent, function::copy, along.at[i], no_id, 0};
    parts = parts * number::of_row(&b, b.add_number(extent));
  }
  return parts;
}
/// The means over the dims `along` of a tensor. Its other dims stay.
template <dtype T>
constexpr any_tensor<T> mean_over(any_tensor<T> const& x, shape const& along) {
  builder& b = *x.owner;
  if (along.count == 0) return x;
  number const share = 1 / elements_of(b, along);
  return any_tensor<T>(&b, reduce(b, reduction::sum, x.id, along)) * share;
}

template <dtype T>
struct adafactor_step {
  number decay;
  tensor<T> rate, floor_of_squares, most, floor_of_scale;
  bool squares_may_be_zero, most_may_be_zero;

  constexpr any_tensor<T> operator()(auto const& s, any_tensor<T> const& p, any_tensor<T> const& g) const {
    builder& b = s.graph_builder();
    auto const [outer, own] = parameter_dims(b, p.id);

    auto const kept = own_tensor<T>(s, 1 - power(this_update(s, p), decay));
    auto const squares = any_tensor<T>(g * g + floor_of_squares);
    auto const moved = own.count < 2 ? g * inverse_root(running(s, kept, "v", p, squares, united(outer, own)))
                                     : factored(s, kept, p, g, squares, outer, own);
    auto const length = sqrt(mean_over<T>(moved * moved, own));
    auto const scale = maximum(sqrt(mean_over<T>(p * p, own)), floor_of_scale);
    any_tensor<T> const longer = maximum(length / most, 1);
    return p - moved * (scale * rate / (most_may_be_zero ? any_tensor<T>(select(length == 0, 1, longer)) : longer));
  }

 private:
  constexpr any_tensor<T> inverse_root(any_tensor<T> const& x) const {
    return rsqrt(as_divisor(x, squares_may_be_zero));
  }
  /// kept · before + (1 − kept) · now, with a state `before` that has the dims `dims` of the parameter.
  constexpr any_tensor<T> running(auto const& s, tensor<T> const& kept, name const& label, any_tensor<T> const& p,
                                  any_tensor<T> const& now, shape const& dims) const {
    auto const before = s.state_like(label, p, dims);
    auto const next = any_tensor<T>(before * kept + now * (1 - kept));
    s.update(before, next);
    return next;
  }
  /// The update by factored second moments: for each own dim, a state holds the means over the other own dims. All
  /// factors but the first are relative to the mean of all elements, because their product approximates the second
  /// moments.
  constexpr any_tensor<T> factored(auto const& s, tensor<T> const& kept, any_tensor<T> const& p, any_tensor<T> const& g,
                                   any_tensor<T> const& squares, shape const& outer, shape const& own) const {
    builder& b = s.graph_builder();
    any_tensor<T> moved = g, all = g;
    for (int i = 0; i < own.count; ++i) {
      shape one{};
      one.add(own.at[i]);
      auto const mine =
          running(s, kept, b.m.dim_name(own.at[i]), p, mean_over<T>(squares, without(own, one)), united(outer, one));
      if (i == 0) all = mean_over<T>(mine, one);
      moved = moved * inverse_root(i == 0 ? mine : any_tensor<T>(mine / as_divisor(all, squares_may_be_zero)));
    }
    return moved;
  }
};

}  // namespace detail

/// Adafactor takes steps like Adam's, with a much smaller state: its size is the sum of a parameter's extents, not
/// their product. The running means of squared gradients are kept for each dim alone, and their outer product
/// approximates the mean of each element. A parameter with one dim or none keeps the mean of every element. No step is
/// longer than `clip_threshold` · `learning_rate` times the parameter's own scale, which is its root mean square.
///
/// p ← p − learning_rate · max(least_scale, rms(p)) · u / max(1, rms(u) / clip_threshold), where u = g / √v̂. With more
/// than one dim, v̂ = v_a · Π (v_i / mean(v_a)), where a is the first dim and i runs over the others. Here v_i is the
/// running mean of g² + epsilon over all dims but i. Dims of enclosing loops do not count, so each layer has its own v̂
/// and rms.
///
/// state   for a parameter with dims a, b, …: one tensor [a], one [b] and so on, each after the dims of enclosing loops
/// source  Shazeer and Stern, arXiv:1804.04235, algorithms 4 to 6, without momentum. More than two dims are treated as
///         in Chen et al., arXiv:1902.04620
struct adafactor {
  static constexpr name label = "adafactor";
  number learning_rate = 1e-2;
  number decay = 0.8;  // the weight of the previous means in a parameter's update t is 1 − t^(−decay)
  number clip_threshold = 1;
  number epsilon = 1e-30;     // added to squared gradients
  number least_scale = 1e-3;  // the least scale, so that a parameter that is zero can change
  number clip_norm = {};

  template <class S, class What = detail::no_loss, class P = detail::all_parameters>
  constexpr void minimize(S const& s, What const& what = {}, P const& parameters = {}, line const& where = {}) const {
    detail::minimize(*this, s, what, parameters, where);
  }
  template <dtype T, scope S>
  constexpr detail::adafactor_step<T> prepare(S const& s) const {
    auto const as_one = [&](number const& n) { return detail::own_tensor<T>(s, detail::own_row(s, n)); };
    auto const rate = as_one(learning_rate);
    auto const small = as_one(epsilon);
    auto const most = as_one(clip_threshold);
    auto const least = as_one(least_scale);
    return {detail::row(s, -detail::own_row(s, decay)),
            rate,
            small,
            most,
            least,
            may_be(epsilon, 0),
            may_be(clip_threshold, 0)};
  }
};

}  // namespace nn

using nn::adafactor;

}  // namespace meshtensor
