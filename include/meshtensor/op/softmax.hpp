// SPDX-License-Identifier: Apache-2.0
// Softmax, log_softmax and logsumexp along a dim, as composites with their own gradients, without overflow; and the
// causal mask.
#pragma once

#include <tuple>

#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/detail/row_sum.hpp"
#include "meshtensor/op/lookup.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor {

namespace detail {
/// A composite of one tensor of floats along a dim. If a constraint failed, returns the operand; the static_assert has
/// reported it.
template <handle H, class D, class Body, class Gradient>
constexpr auto composite_along(name const& label, H const& x, D, line const& where, Body const& body,
                               Gradient const& gradient) {
  if constexpr (!of_float<H>)
    static_assert(is_valid<detail::wrong<"T04 this function takes tensors of floats: cast the operand", H>>);
  if constexpr (has_dim<H, D> && of_float<H>) {
    composed const here(x.owner, where);
    return composite_with_gradient(label, body, gradient, x);
  } else {
    return x;
  }
}
}  // namespace detail

/// exp(x) / Σ exp(x) along a dim. The maximum is subtracted first, so that nothing overflows. If all elements are -inf,
/// the result is zeros.
///
/// dims    those of `x`
/// layout  `dim` sharded over an axis: one max and one sum, which lack `dim`, are reduced over that axis
/// grad    y · (dy − Σ y·dy)
/// errors  T01 `x` lacks the dim
template <handle H, dim_type D>
constexpr auto softmax(H const& x, D along, line const& where = {}) {
  if constexpr (!has_dim<H, D>) static_assert(is_valid<detail::wrong<"T01 softmax: the operand lacks the dim", H, D>>);
  auto const body = [=](auto a) {
    auto const e = exp(a - detail::kept_finite(max(a, along)));
    return e / detail::as_divisor(sum(e, along));
  };
  auto const gradient = [=](auto, auto y, auto dy) { return y * (dy - sum(y * dy, along)); };
  return detail::composite_along("softmax", x, along, where, body, gradient);
}

/// The logarithm of softmax, exact where softmax itself would round to zero. If all elements are -inf, the result is
/// -inf.
///
/// dims    those of `x`
/// grad    dy − softmax(x) · Σ dy; zero if all elements are -inf
/// errors  T01 `x` lacks the dim
template <handle H, dim_type D>
constexpr auto log_softmax(H const& x, D along, line const& where = {}) {
  if constexpr (!has_dim<H, D>)
    static_assert(is_valid<detail::wrong<"T01 log_softmax: the operand lacks the dim", H, D>>);
  auto const body = [=](auto a) {
    auto const shifted = a - detail::kept_finite(max(a, along));
    auto const total = sum(exp(shifted), along);
    return std::tuple(shifted - log(detail::as_divisor(total)), total);
  };
  auto const gradient = [=](auto, auto y, auto total, auto dy) {
    return select(total == 0, 0, dy - exp(y) * sum(dy, along));
  };
  if constexpr (has_dim<H, D> && of_float<H>)
    return std::get<0>(detail::composite_along("log_softmax", x, along, where, body, gradient));
  else return detail::composite_along("log_softmax", x, along, where, body, gradient);
}

/// log Σ exp(x) along a dim, without overflow. If all elements are -inf, the result is -inf; if one is inf, inf.
///
/// dims    those of `x` without the dim
/// grad    dy · softmax(x); zero if all elements are -inf
/// errors  T01 `x` lacks the dim
template <handle H, dim_type D>
constexpr auto logsumexp(H const& x, D along, line const& where = {}) {
  if constexpr (!has_dim<H, D>)
    static_assert(is_valid<detail::wrong<"T01 logsumexp: the operand lacks the dim", H, D>>);
  auto const body = [=](auto a) {
    auto const greatest = minimum(detail::kept_finite(max(a, along)), -detail::least_finite_like<H>);
    return log(sum(exp(a - greatest), along)) + greatest;
  };
  auto const gradient = [=](auto a, auto y, auto dy) { return exp(a - detail::kept_finite(y)) * dy; };
  return detail::composite_along("logsumexp", x, along, where, body, gradient);
}

namespace detail {
/// Whether the position along `key` is not after that along `query`.
template <class Query, class Key>
constexpr tensor<dtype::boolean, Key, Query> not_after(builder& b, Query query, Key key) {
  tensor<dtype::i32, Query> const query_position(&b, iota(b, dim_of(b, query), dtype::i32));
  tensor<dtype::i32, Key> const key_position(&b, iota(b, dim_of(b, key), dtype::i32));
  return key_position <= query_position;
}
}  // namespace detail

/// The causal mask: `scores` where the position of `key` is not after that of `query`, elsewhere −1e30, which softmax
/// turns into zero.
///
/// dims    those of `scores`
/// layout  each dim keeps its axes: positions are global
/// grad    the cotangent, zero where masked
/// errors  T01 `scores` lacks one of the dims
template <handle H, dim_type Query, dim_type Key>
constexpr auto causal(H const& scores, Query query, Key key, line const& where = {}) {
  if constexpr (!(has_dim<H, Query> && has_dim<H, Key>))
    static_assert(is_valid<detail::wrong<"T01 causal: the operand lacks a dim", H, Query, Key>>);
  auto const body = [=](auto x) { return select(detail::not_after(*x.owner, query, key), x, -1e30); };
  auto const gradient = [=](auto x, auto, auto dy) {
    return dy * cast<H::type>(detail::not_after(*x.owner, query, key));
  };
  if constexpr (has_dim<H, Query>) return detail::composite_along("causal", scores, key, where, body, gradient);
  else return scores;
}

/// Rejects a call with a position, or without a dim.
template <handle H, class... D>
requires(!dim_type<typename detail::nth<0, D..., H>::type>)
constexpr auto softmax(H const& x, D const&...) {
  static_assert(is_valid<detail::wrong<"T10 softmax goes along a dim, by its name: softmax(x, vocab)", H, D...>>);
  return x;
}
template <handle H, class... D>
requires(!dim_type<typename detail::nth<0, D..., H>::type>)
constexpr auto log_softmax(H const& x, D const&...) {
  static_assert(
      is_valid<detail::wrong<"T10 log_softmax goes along a dim, by its name: log_softmax(x, vocab)", H, D...>>);
  return x;
}

}  // namespace meshtensor
