// SPDX-License-Identifier: Apache-2.0
// Softmax, log_softmax and logsumexp along a dim, as composites with their own gradients and without overflow. The
// causal mask is here, too.
#pragma once

#include <tuple>

#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/detail/row_sum.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor {

namespace detail {
/// The first error of a function of floats along dims, or `no_error`. `Lacks` is the sentence for an operand without a
/// dim.
template <literal Lacks, handle H, dim_type... D>
consteval auto along_finding() {
  if constexpr (!(has_dim<H, D> && ...)) return refusal<Lacks, H, D...>{};
  else if constexpr (!of_float<H>) return refusal<"T04 this function takes tensors of floats: cast the operand", H>{};
  else return no_error{};
}
/// The line of a call of such a function. It refuses the call if the types show an error.
template <literal Lacks, class H, class... D>
using along_line = checked_line<decltype(along_finding<Lacks, H, D...>())>;

/// A composite of one tensor of floats. If its line refuses the operand, the operand stands for the result. A single
/// result is rounded to the operand's dtype outside of the composite, so the gradient reads it as it was computed.
template <handle H, class Line, class Body, class Gradient>
constexpr auto composite_at(name const& label, H const& x, Line const& where, Body const& body,
                            Gradient const& gradient) {
  if constexpr (is_refused<Line>) {
    return given_up(x);
  } else {
    composed const here(x.owner, where, label);
    auto const made = composite_with_gradient(label, body, gradient, x);
    if constexpr (handle<decltype(made)>) return cast<H::type>(made);
    else return made;
  }
}
}  // namespace detail

/// exp(x) / Σ exp(x) along a dim. The maximum is subtracted first, so that nothing overflows. If all elements are -inf,
/// the result is zeros.
///
/// dims    those of `x`
/// layout  if `dim` is sharded over an axis, one max and one sum are reduced over that axis. Both lack `dim`
/// grad    y · (dy − Σ y·dy)
/// errors  T01 `x` lacks the dim
template <handle H, dim_type D>
constexpr auto softmax(H const& x, D along,
                       detail::along_line<"T01 softmax: the operand lacks the dim", H, D> const& where = {}) {
  auto const body = [=](auto a) {
    auto const e = exp(a - detail::kept_finite(max(a, along)));
    return e / detail::as_divisor(sum(e, along));
  };
  auto const gradient = [=](auto, auto y, auto dy) { return y * (dy - sum(y * dy, along)); };
  return detail::composite_at("softmax", x, where, body, gradient);
}

/// The logarithm of softmax, exact where softmax itself would round to zero. If all elements are -inf, the result is
/// -inf.
///
/// dims    those of `x`
/// grad    dy − softmax(x) · Σ dy, or zero if all elements are -inf
/// errors  T01 `x` lacks the dim
template <handle H, dim_type D>
constexpr auto log_softmax(H const& x, D along,
                           detail::along_line<"T01 log_softmax: the operand lacks the dim", H, D> const& where = {}) {
  auto const body = [=](auto a) {
    auto const shifted = a - detail::kept_finite(max(a, along));
    auto const total = sum(exp(shifted), along);
    return std::tuple(shifted - log(detail::as_divisor(total)), total);
  };
  auto const gradient = [=](auto, auto y, auto total, auto dy) {
    return select(total == 0, 0, dy - exp(y) * sum(dy, along));
  };
  auto const made = detail::composite_at("log_softmax", x, where, body, gradient);
  if constexpr (handle<decltype(made)>) return made;  // it was refused
  else return std::get<0>(made);
}

/// log Σ exp(x) along a dim, without overflow. If all elements are -inf, the result is -inf. If one is inf, it is inf.
///
/// dims    those of `x` without the dim
/// dtype   that of `x`; bf16 is computed in f32 and rounded once
/// grad    dy · softmax(x), or zero if all elements are -inf
/// errors  T01 `x` lacks the dim
template <handle H, dim_type D>
constexpr auto logsumexp(H const& x, D along,
                         detail::along_line<"T01 logsumexp: the operand lacks the dim", H, D> const& where = {}) {
  constexpr dtype inner = accumulator_of(H::type);
  auto const body = [=](auto a) {
    auto const wide = cast<inner>(a);
    auto const greatest = minimum(detail::kept_finite(max(wide, along)), -detail::least_finite_like<decltype(wide)>);
    return log(sum(exp(wide - greatest), along)) + greatest;
  };
  auto const gradient = [=](auto a, auto y, auto dy) {
    auto const wide = cast<inner>(a);
    return cast<H::type>(exp(wide - detail::kept_finite(y)) * dy);
  };
  return detail::composite_at("logsumexp", x, where, body, gradient);
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

/// The causal mask: `scores` where the position of `key` is not after that of `query`, and −1e30 elsewhere, which
/// softmax turns into zero.
///
/// dims    those of `scores`
/// layout  each dim keeps its axes, because positions are global
/// grad    the cotangent, zero where masked
/// errors  T01 `scores` lacks one of the dims
template <handle H, dim_type Query, dim_type Key>
constexpr auto causal(H const& scores, Query query, Key key,
                      detail::along_line<"T01 causal: the operand lacks a dim", H, Query, Key> const& where = {}) {
  auto const body = [=](auto x) { return select(detail::not_after(*x.owner, query, key), x, -1e30); };
  auto const gradient = [=](auto x, auto, auto dy) {
    return dy * cast<H::type>(detail::not_after(*x.owner, query, key));
  };
  return detail::composite_at("causal", scores, where, body, gradient);
}

/// Rejects a call with a position, or without a dim.
template <handle H, detail::argument A = detail::none_given, detail::argument B = detail::none_given>
requires(!dim_type<A>)
constexpr auto softmax(
    H const& x, A const& = {}, B const& = {},
    detail::refused_call<"T25 softmax goes along a dim, by its name: softmax(x, vocab)", H, A, B> const& = {}) {
  return detail::given_up(x);
}
template <handle H, detail::argument A = detail::none_given, detail::argument B = detail::none_given>
requires(!dim_type<A>)
constexpr auto log_softmax(
    H const& x, A const& = {}, B const& = {},
    detail::refused_call<"T25 log_softmax goes along a dim, by its name: log_softmax(x, vocab)", H, A, B> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
