// SPDX-License-Identifier: Apache-2.0
// Standardizes a tensor along any set of dims and scales it: what batch, group and instance norm share.
#pragma once

#include <tuple>

#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor::nn::detail {

/// A tensor's mean and sum along the dims of a list; along none it is the tensor.
template <handle H, class... D>
constexpr auto mean_along(H const& x, dims<D...> along) {
  auto const make = [&](builder& b, shape const& s) { return mean(b, x.id, s); };
  if constexpr (sizeof...(D) == 0) return x;
  else return meshtensor::detail::record_reduce<"mean">(x, along, line::unknown(), make);
}
template <handle H, class... D>
constexpr auto sum_along(H const& x, dims<D...> along) {
  if constexpr (sizeof...(D) == 0) return x;
  else
    return meshtensor::detail::record_reduce<"sum">(x, along, line::unknown(),
                                                    meshtensor::detail::reducing<reduction::sum>(x.id));
}

/// The number of elements along the dims of a list.
template <class... D>
constexpr number elements_along(dims<D...>) {
  return (number(1) * ... * extent(D{}));
}

/// The means of x and of (x - mean)², from two sums of one pass over `x` that are reduced together. They are made in
/// f64, where no digit of an f32 is lost in the difference of squares; f64 itself takes a second pass.
template <handle X, class Along>
constexpr auto moments(X const& x, Along along) {
  if constexpr (X::type == dtype::f64) {
    auto const centre = mean_along(x, along);
    auto const centred = x - centre;
    return std::tuple(centre, mean_along(centred * centred, along));
  } else {
    auto const wide = cast<dtype::f64>(x);
    auto const centre = mean_along(wide, along);
    auto const square = mean_along(wide * wide, along);
    return std::tuple(cast<dtype::f32>(centre), cast<dtype::f32>(maximum(square - centre * centre, 0)));
  }
}

/// (x - centre) · scale · gain + bias, computed in the dtype of the statistics.
template <handle X, handle G, handle C>
constexpr auto scaled(X const& x, G const& gain, G const& bias, C const& centre, C const& scale) {
  constexpr dtype inner = C::type;
  return cast<X::type>((cast<inner>(x) - centre) * scale * cast<inner>(gain) + cast<inner>(bias));
}

/// A tuple of `x` standardized along the dims `along`, then scaled and shifted; its mean and its variance along them.
/// Gain and bias may have dims of `along`.
template <handle X, handle G, class Along>
constexpr auto standardized(X const& x, G const& gain, G const& bias, Along along, number const& epsilon) {
  constexpr dtype inner = accumulator_of(X::type);
  using before = ruled_t<without, Along, typename G::dim_list>;  // summed first, without the gain
  using behind = ruled_t<without, Along, before>;                // summed with the gain
  auto const results = composite_with_gradient(
      "standardize",
      [=](auto a, auto g, auto b) {
        auto const [centre, variance] = moments(a, along);
        auto const scale = rsqrt(variance + epsilon);
        return std::tuple(scaled(a, g, b, centre, scale), centre, scale, variance);
      },
      [=](auto a, auto g, auto b, auto, auto centre, auto scale, auto, auto dy) {
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
  return std::tuple(std::get<0>(results), std::get<1>(results), std::get<3>(results));
}

}  // namespace meshtensor::nn::detail
