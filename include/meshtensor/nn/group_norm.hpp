// SPDX-License-Identifier: Apache-2.0
// Norms of single examples: group norm and instance norm.
#pragma once

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/nn/norm.hpp"
#include "meshtensor/nn/standardize.hpp"
#include "meshtensor/op/reshape.hpp"

namespace meshtensor::nn {

namespace detail {

struct group_norm_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 group_norm takes a scope, x, its channels, mt::to(groups, in_group) and the dims of positions, not a scope "
      "and"};
  template <handle X, dim_type C, class Parts, dim_type... Along>
  static consteval auto finding() {
    using meshtensor::detail::refusal;
    if constexpr (!has_dim<X, C> || !(has_dim<X, Along> && ...))
      return refusal<"T01 group_norm: the operand lacks a dim", X, C, Along...>{};
    else if constexpr (!meshtensor::detail::are_distinct<C, Along...>())
      return refusal<"T42 group_norm: one dim is named twice", C, Along...>{};
    else if constexpr (!of_float<X>) return refusal<"T04 group_norm takes a tensor of floats: cast the operand", X>{};
    else return no_error{};
  }
  template <scope S, handle X, dim_type C, dim_type G, dim_type I, dim_type... Along>
  constexpr auto operator()(S const& s, X const& x, C channel, to_dims<G, I> parts, Along...) const {
    auto const gain = split(s.parameter("gain", channel, ones), channel, parts);
    auto const bias = split(s.parameter("bias", channel, zeros), channel, parts);
    auto const apart = split(x, channel, parts);
    auto const results = standardized<false>(apart, gain, bias, dims<Along..., I>{}, norm_epsilon);
    return merge(std::get<0>(results), parts, channel);
  }
};

struct instance_norm_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 instance_norm takes a scope, x, its channels and the dims of positions, not a scope and"};
  template <handle X, dim_type C, dim_type First, dim_type... Along>
  static consteval auto finding() {
    using meshtensor::detail::refusal;
    if constexpr (!(has_dim<X, C> && has_dim<X, First> && (has_dim<X, Along> && ...)))
      return refusal<"T01 instance_norm: the operand lacks a dim", X, C, First, Along...>{};
    else if constexpr (!meshtensor::detail::are_distinct<C, First, Along...>())
      return refusal<"T42 instance_norm: one dim is named twice", C, First, Along...>{};
    else if constexpr (!of_float<X>)
      return refusal<"T04 instance_norm takes a tensor of floats: cast the operand", X>{};
    else return no_error{};
  }
  template <scope S, handle X, dim_type C, dim_type First, dim_type... Along>
  constexpr auto operator()(S const& s, X const& x, C channel, First, Along...) const {
    auto const gain = s.parameter("gain", channel, ones);
    auto const bias = s.parameter("bias", channel, zeros);
    return std::get<0>(standardized<false>(x, gain, bias, dims<First, Along...>{}, norm_epsilon));
  }
};

}  // namespace detail

/// (x − mean) / √(variance + 1e-5), scaled and shifted, with the mean and the variance over the positions of an image
/// and over the channels of a group: `group_norm(s / "norm", x, channels, to(groups, in_group), rows, cols)`. The dims
/// `groups` and `in_group` say how `channels` is split, so the product of their extents is its extent.
///
/// parameters  gain [channels], ones; bias [channels], zeros
/// dims        those of `x`
/// dtype       statistics are f32 for bf16, and sums of f32 are made in f64
/// layout      if `channels` is sharded, `groups` is sharded; if a position is sharded over an axis, two sums are
///             reduced over it
/// errors      T01 `x` lacks a dim; T03 `x` has `groups` or `in_group` already; S03 the groups do not divide the
///             channels
/// source      Wu and He, arXiv:1803.08494
inline constexpr library_layer group_norm = detail::group_norm_body{};

/// (x − mean) / √(variance + 1e-5), scaled and shifted, with the mean and the variance of each channel of each example
/// over its positions: `instance_norm(s / "norm", x, channels, rows, cols)`.
///
/// parameters  gain [channels], ones; bias [channels], zeros
/// dims        those of `x`
/// dtype, layout  as for `group_norm`
/// errors      T01 `x` lacks a dim
/// source      Ulyanov et al., arXiv:1607.08022
inline constexpr library_layer instance_norm = detail::instance_norm_body{};

}  // namespace meshtensor::nn
