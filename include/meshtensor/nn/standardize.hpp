// SPDX-License-Identifier: Apache-2.0
// The standardization that batch, group and instance norm share: along any set of dims, followed by a scale and a
// shift.
#pragma once

#include <tuple>

#include "meshtensor/nn/scaled_squares.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor::nn::detail {

/// A tensor's mean and sum along the dims of a list. If the list is empty, they are the tensor itself.
template <handle H, class... D>
constexpr auto mean_along(H const& x, dims<D...> along) {
  auto const make = [&](builder& b, shape const& s) { return mean(b, x.id, s); };
  if constexpr (sizeof...(D) == 0) return x;
  else return meshtensor::detail::record_reduce<meshtensor::detail::mean_call>(x, along, line::unknown(), make);
}
template <handle H, class... D>
constexpr auto sum_along(H const& x, dims<D...> along) {
  if constexpr (sizeof...(D) == 0) return x;
  else
    return meshtensor::detail::record_reduce<meshtensor::detail::sum_call>(
        x, along, line::unknown(), meshtensor::detail::reducing<reduction::sum>(x.id));
}

/// The number of elements along the dims of a list.
template <class... D>
constexpr number elements_along(dims<D...>) {
  return (number(1) * ... * extent(D{}));
}

/// The mean of x, 1 / √(variance + epsilon), and the variance. The second is 0 where variance and epsilon are 0, and
/// the variance is infinite if the dtype cannot hold it. Two sums of one pass over `x` are reduced together, both in
/// f64. Therefore no digit of an f32 is lost in the difference of squares, and no square overflows before its root is
/// taken. f64 itself takes a second pass.
template <handle X, class Along>
constexpr auto statistics(X const& x, Along along, number const& epsilon) {
  if constexpr (X::type == dtype::f64) {
    auto const centre = mean_along(x, along);
    auto const q = squares_within(x - centre, [&](auto const& y) { return mean_along(y, along); });
    number const count = elements_along(along);
    return std::tuple(centre, rsqrt_of(q, count, epsilon), added_of(q, count));
  } else {
    auto const wide = cast<dtype::f64>(x);
    auto const centre = mean_along(wide, along);
    auto const square = mean_along(wide * wide, along);
    auto const variance = maximum(square - centre * centre, 0);
    return std::tuple(cast<dtype::f32>(centre), cast<dtype::f32>(rsqrt_or_zero(variance + epsilon, may_be(epsilon, 0))),
                      cast<dtype::f32>(variance));
  }
}

/// (x - centre) · scale · gain + bias, computed in the dtype of the statistics.
template <handle X, handle G, handle C>
constexpr auto scaled(X const& x, G const& gain, G const& bias, C const& centre, C const& scale) {
  constexpr dtype inner = C::type;
  return cast<X::type>((cast<inner>(x) - centre) * scale * cast<inner>(gain) + cast<inner>(bias));
}

/// A tuple. It begins with `x`, standardized along the dims `along`, then scaled and shifted. The mean along these dims
/// and the reciprocal of the deviation follow, and the variance if `GivesVariance`. The variance is optional, because
/// it may not fit the dtype where the other results do. Gain and bias may have dims of `along`.
template <bool GivesVariance, handle X, handle G, class Along>
constexpr auto standardized(X const& x, G const& gain, G const& bias, Along along, number const& epsilon) {
  constexpr dtype inner = accumulator_of(X::type);
  using before = ruled_t<without, Along, typename G::dim_list>;  // summed first, without the gain
  using behind = ruled_t<without, Along, before>;                // summed with the gain
  return composite_with_gradient(
      "standardize",
      [=](auto a, auto g, auto b) {
        auto const [centre, scale, variance] = statistics(a, along, epsilon);
        auto const y = scaled(a, g, b, centre, scale);
        if constexpr (GivesVariance) return std::tuple(y, centre, scale, variance);
        else return std::tuple(y, centre, scale);
      },
      [=](auto a, auto g, auto b, auto, auto centre, auto scale, auto... rest)
      requires(sizeof...(rest) == (GivesVariance ? 2 : 1))
      {
        auto const dy = std::get<sizeof...(rest) - 1>(std::tuple(rest...));
        auto const inner_dy = cast<inner>(dy);
        auto const gained = cast<inner>(g);
        auto const normal_a = (cast<inner>(a) - centre) * scale;
        auto const total = sum_along(inner_dy, before{}), projected = sum_along(inner_dy * normal_a, before{});
        auto const share = 1 / elements_along(along);
        auto const level = sum_along(total * gained, behind{}) * share;
        auto const tilt = sum_along(projected * gained, behind{}) * share;
        auto const da = (inner_dy * gained - level - normal_a * tilt) * scale;
        auto const dg = meshtensor::detail::summed_like(projected, g);
        auto const db = meshtensor::detail::summed_like(total, b);
        return std::tuple(cast<decltype(a)::type>(da), cast<decltype(g)::type>(dg), cast<decltype(b)::type>(db));
      },
      x, gain, bias);
}

}  // namespace meshtensor::nn::detail
