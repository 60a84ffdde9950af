// SPDX-License-Identifier: Apache-2.0
// Layers that map one dim to another with a learned table: linear, embed, feed_forward.
#pragma once

#include "meshtensor/op/activation.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/gather.hpp"

namespace meshtensor::nn {

namespace detail {
constexpr shape mapped_rule(shape const& x, shape const&, shape const& from, shape const& into) {
  return replaced(x, from.at[0], into.at[0]);
}

struct linear_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 linear takes a scope, x, the dim that it maps from and the one that it maps to, not a scope and"};
  template <handle X, dim_type From, dim_type Into>
  static consteval auto finding() {
    using meshtensor::detail::refusal;
    if constexpr (!has_dim<X, From>)
      return refusal<"T01 linear: the operand lacks the dim that it maps from", X, From>{};
    else if constexpr (!meshtensor::detail::lacks_dim<X, Into>)
      return refusal<"T03 linear: the operand already has the dim that it maps to", X, Into>{};
    else return no_error{};
  }
  template <scope S, handle X, dim_type From, dim_type Into>
  constexpr auto operator()(S const& s, X const& x, From from, Into into) const {
    auto const weight = s.parameter("weight", from, into, normal(1 / sqrt(extent(from))));
    auto const bias = s.parameter("bias", into, zeros);
    return meshtensor::detail::einsum_by<mapped_rule, dims<From>, dims<Into>>(x, weight) + bias;
  }
};
}  // namespace detail

/// y = x W + b along one dim: `linear(s / "up", x, d_model, d_ff)`.
///
/// parameters  weight [from, into], normal with standard deviation 1/√from; bias [into], zeros
/// dims        those of `x`, `into` in the place of `from`
/// errors      T01 `x` lacks `from`; T03 `x` has `into` already: rename it, because a dim cannot be mapped to itself
inline constexpr library_layer linear = detail::linear_body{};

namespace detail {
struct embed_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 embed takes a scope, integers, the dim of the table's rows and that of what it gives, not a scope and"};
  template <handle Ids, dim_type Vocab, dim_type Model>
  static consteval auto finding() {
    using table = handle_t<Ids::type, dims<Vocab, Model>>;
    return meshtensor::detail::rule_finding<gather_rule, dims<Vocab>, table, Ids>();
  }
  constexpr auto operator()(scope auto s, auto ids, auto vocab, auto model) const {
    return gather(s.parameter("table", vocab, model, normal(1 / sqrt(extent(model)))), ids, vocab);
  }
};
}  // namespace detail

/// Looks up rows of a learned table: `embed(s / "tokens", text, vocab, d_model)`.
///
/// parameters  table [vocab, model], normal with standard deviation 1/√model
/// dims        those of the integers, then `model`
/// layout  if `vocab` is sharded over an axis, the result is a partial sum over that axis
inline constexpr library_layer embed = detail::embed_body{};

namespace detail {
struct feed_forward_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 feed_forward takes a scope, x, its dim and the one between the two maps, not a scope and"};
  template <handle X, dim_type Model, dim_type Hidden>
  static consteval auto finding() {
    return linear_body::finding<X, Model, Hidden>();
  }
  constexpr auto operator()(scope auto s, handle auto x, dim_type auto model, dim_type auto hidden) const {
    auto const up = linear(s / "up", x, model, hidden);
    return linear(s / "down", gelu(up), hidden, model);
  }
};
}  // namespace detail

/// Two linear maps with gelu between them, applied at every position.
///
/// parameters  up/weight [model, hidden], up/bias, down/weight [hidden, model], down/bias
/// dims        those of `x`
/// source      Vaswani et al., arXiv:1706.03762, section 3.3
inline constexpr library_layer feed_forward = detail::feed_forward_body{};

}  // namespace meshtensor::nn
