// SPDX-License-Identifier: Apache-2.0
// Normalization layers: layer_norm and rms_norm, composites with their own gradients.
#pragma once

#include <tuple>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/nn/scaled_squares.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor::nn {

inline constexpr double norm_epsilon = 1e-5;

namespace detail {

/// 1 / √(mean of squares along a dim + 1e-5).
template <handle X, dim_type D>
constexpr auto scale_along(X const& x, D along) {
  return rsqrt_of(squares_within(x, [&](auto const& y) { return mean(y, along); }), extent(along), norm_epsilon);
}

/// A tensor in the dtype of the statistics, which is f32 for bf16.
template <handle H>
constexpr auto widened(H const& x) {
  return cast<accumulator_of(H::type)>(x);
}
/// A cotangent in the dtype of its operand, summed over the dims that the operand lacks.
template <handle T, handle H>
constexpr H narrowed_like(T const& term, H const& operand) {
  return cast<H::type>(meshtensor::detail::summed_like(term, operand));
}

struct layer_norm_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 layer_norm takes a scope, x and the dim of its mean, not a scope and"};
  template <handle X, dim_type D>
  static consteval auto finding() {
    if constexpr (has_dim<X, D>) return no_error{};
    else return meshtensor::detail::refusal<"T01 layer_norm: the operand lacks the dim", X, D>{};
  }
  constexpr auto operator()(scope auto s, handle auto x, dim_type auto along) const {
    auto const gain = s.parameter("gain", along, ones);
    auto const bias = s.parameter("bias", along, zeros);
    auto const results = composite_with_gradient(
        "layer_norm",
        [=](auto a, auto g, auto b) {
          auto const wide = widened(a);
          auto const centre = mean(wide, along);
          auto const centred = wide - centre;
          auto const scale = scale_along(centred, along);
          auto const gained = centred * scale * widened(g);
          return std::tuple(cast<decltype(a)::type>(gained + widened(b)), centre, scale);
        },
        [=](auto a, auto g, auto b, auto, auto centre, auto scale, auto dy) {
          auto const normal_a = (widened(a) - centre) * scale;
          auto const wide_dy = widened(dy);
          auto const d_normal = wide_dy * widened(g);
          auto const centered = d_normal - mean(d_normal, along);
          auto const projected = normal_a * mean(d_normal * normal_a, along);
          auto const da = narrowed_like((centered - projected) * scale, a);
          auto const dg = narrowed_like(wide_dy * normal_a, g);
          auto const db = narrowed_like(wide_dy, b);
          return std::tuple(da, dg, db);
        },
        x, gain, bias);
    return std::get<0>(results);
  }
};

struct rms_norm_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 rms_norm takes a scope, x and the dim of its mean, not a scope and"};
  template <handle X, dim_type D>
  static consteval auto finding() {
    if constexpr (has_dim<X, D>) return no_error{};
    else return meshtensor::detail::refusal<"T01 rms_norm: the operand lacks the dim", X, D>{};
  }
  constexpr auto operator()(scope auto s, handle auto x, dim_type auto along) const {
    auto const gain = s.parameter("gain", along, ones);
    auto const results = composite_with_gradient(
        "rms_norm",
        [=](auto a, auto g) {
          auto const wide = widened(a);
          auto const scale = scale_along(wide, along);
          return std::tuple(cast<decltype(a)::type>(wide * scale * widened(g)), scale);
        },
        [=](auto a, auto g, auto, auto scale, auto dy) {
          auto const normal_a = widened(a) * scale;
          auto const wide_dy = widened(dy);
          auto const d_normal = wide_dy * widened(g);
          auto const projected = normal_a * mean(d_normal * normal_a, along);
          auto const da = narrowed_like((d_normal - projected) * scale, a);
          auto const dg = narrowed_like(wide_dy * normal_a, g);
          return std::tuple(da, dg);
        },
        x, gain);
    return std::get<0>(results);
  }
};
}  // namespace detail

/// (x − mean) / √(variance + 1e-5) along a dim, then scaled and shifted: `layer_norm(s / "norm", x, d_model)`.
///
/// parameters  gain [dim], ones; bias [dim], zeros
/// dims        those of `x`
/// dtype       that of `x`; bf16 is computed in f32 and rounded once
/// layout      if `dim` is sharded over an axis, a sum and then two sums of squares are reduced over that axis. One of
///             the two is for huge elements
/// errors      T01 `x` lacks the dim
/// source      Ba, Kiros and Hinton, arXiv:1607.06450
inline constexpr library_layer layer_norm = detail::layer_norm_body{};

/// x / √(mean of squares + 1e-5) along a dim, then scaled. It is layer_norm without the subtraction of the mean.
///
/// parameters  gain [dim], ones
/// dims        those of `x`
/// dtype       that of `x`; bf16 is computed in f32 and rounded once
/// errors      T01 `x` lacks the dim
/// source      Zhang and Sennrich, arXiv:1910.07467
inline constexpr library_layer rms_norm = detail::rms_norm_body{};

}  // namespace meshtensor::nn
