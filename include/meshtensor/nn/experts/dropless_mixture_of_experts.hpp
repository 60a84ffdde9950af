// SPDX-License-Identifier: Apache-2.0
// Defines `dropless_mixture_of_experts`, whose experts serve all tokens that choose them.
#pragma once

#include <tuple>

#include "meshtensor/nn/experts/choose_experts.hpp"
#include "meshtensor/op/activation.hpp"
#include "meshtensor/op/all_to_all_rows.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/grouped_einsum.hpp"

namespace meshtensor::nn {

namespace detail {

constexpr shape grouped_rule(shape const& x, shape const& index, shape const& from, shape const& into) {
  return united(united(without(x, from), index), into);
}

/// `linear_of_each` for rows, each of which has one expert.
inline constexpr library_layer grouped_linear = [](scope auto s, auto x, auto expert, auto experts, auto from,
                                                   auto into) {
  using X = decltype(x);
  auto const weight = s.parameter("weight", experts, from, into, normal(1 / sqrt(extent(from))));
  auto const bias = s.parameter("bias", experts, into, zeros);
  builder& b = *x.owner;
  using from_dims = dims<decltype(from)>;
  using into_dims = dims<decltype(into)>;
  using result =
      result_dims_t<grouped_rule, typename X::dim_list, typename decltype(expert)::dim_list, from_dims, into_dims>;
  shape const to =
      grouped_rule(b.m.values[x.id].dims, b.m.values[expert.id].dims, meshtensor::detail::shape_of(b, from_dims{}),
                   meshtensor::detail::shape_of(b, into_dims{}));
  auto const product = meshtensor::detail::wrap<X::type, result>(
      b, grouped_einsum(b, x.id, weight.id, expert.id, meshtensor::detail::dim_of(b, experts), to));
  return product + gather(bias, expert, experts);
};

/// Rows times the matrices of their experts, summed over the choices. The result has the dims of `like`.
template <handle Rows, handle Table, handle Expert, class Experts, handle Like>
constexpr auto sum_of_choices(Rows const& rows, Table const& table, Expert const& expert, Experts experts,
                              Like const& like) {
  builder& b = *rows.owner;
  return handle_t<Like::type, typename Like::dim_list>(
      &b, grouped_einsum(b, rows.id, table.id, expert.id, meshtensor::detail::dim_of(b, experts),
                         b.m.values[like.id].dims));
}
/// The products of the second layer, summed without the bias, and the bias.
inline constexpr library_layer grouped_linear_and_bias = [](scope auto s, auto x, auto expert, auto like, auto experts,
                                                            auto from, auto into) {
  auto const weight = s.parameter("weight", experts, from, into, normal(1 / sqrt(extent(from))));
  auto const bias = s.parameter("bias", experts, into, zeros);
  return std::tuple(sum_of_choices(x, weight, expert, experts, like), bias);
};

/// Sends the rows of tokens to their experts and back, one row for each choice. Then it weighs them and adds them up.
inline constexpr library_layer grouped_feed_forward = [](scope auto s, auto x, auto expert, auto share, auto experts,
                                                         auto model, auto hidden, auto... at_most) {
  using X = decltype(x);
  auto const sent = all_to_all_rows(x, expert, experts, number(at_most)...);
  auto const inner = gelu(grouped_linear(s / "up", sent.rows, sent.group, experts, model, hidden));
  auto const [made, bias] = grouped_linear_and_bias(s / "down", inner, sent.group, sent.rows, experts, hidden, model);
  auto const back = return_rows(made, sent);
  builder& b = *x.owner;
  auto const y = handle_t<X::type, typename X::dim_list>(&b, einsum(b, back.id, share.id, b.m.values[x.id].dims));
  return std::tuple(y, bias, sent.index);
};

// Copies a tensor under a path of its own. The layout of that path holds for the copy and for its gradient, so the
// gradient is reduced to the ranks that hold its tokens.
inline constexpr library_layer copy_in_scope = [](scope auto, auto x) {
  using X = decltype(x);
  return handle_t<X::type, typename X::dim_list>(x.owner, elementwise(*x.owner, function::copy, x.id));
};
inline constexpr library_layer with_bias = [](scope auto, auto made, auto bias, auto expert, auto share, auto experts) {
  return made + sum_of_choices(share, bias, expert, experts, made);
};

struct dropless_mixture_of_experts_body
    : layer_of_tokens<"T01 dropless_mixture_of_experts: the operand lacks a dim", 2> {
  constexpr auto operator()(scope auto s, handle auto x, dim_type auto queue, dim_type auto model, auto experts,
                            auto choices, auto hidden, auto... at_most) const {
    using X = decltype(x);
    auto const [expert, weight, balance] = choose_experts(s / "router", x, queue, model, experts, choices);
    auto const share = cast<X::type>(weight);
    auto const sent = detail::copy_in_scope(s / "router", x);
    auto const [made, bias, served] = detail::grouped_feed_forward(
        s / "expert", sent, expert, detail::copy_in_scope(s / "router", share), experts, model, hidden, at_most...);
    return std::tuple(detail::with_bias(s / "router", made, bias, served, share, experts), balance);
  }
};

}  // namespace detail

/// A mixture_of_experts that drops no token, because an expert serves all tokens that choose it:
/// `auto [y, balance] = dropless_mixture_of_experts(s / "experts", x, length, d_model, experts, choices, d_ff)`. The
/// parameters of both layers have the same names, so one layer can replace the other. With `length` slots, both give
/// the same results. The arithmetic is that of `choices` networks for each token, whatever the loads.
///
/// A last argument, `at_most`, bounds the rows of an expert. The expert then serves its first rows, in the order of the
/// dims of `x` and then of the choices, and the others give zeros. For networks of your own, use `choose_experts`,
/// `all_to_all_rows` and `grouped_einsum`.
///
/// parameters  router/gate [model, experts]; expert/up/weight [experts, model, hidden], expert/up/bias [experts,
///             hidden], expert/down/weight, expert/down/bias
/// dims        of y: those of `x`; balance has none, see `route`
/// layout      `hidden` sharded over an axis: each rank does its part of every expert, whatever the loads, and y is a
///             partial sum. Tokens sharded by any of their dims: each rank serves its tokens. If `hidden` is sharded
///             over the same axis, add in<"expert", replicate<batch>>. `experts` sharded over the axis of tokens, with
///             in<"router", replicate<experts>>: rows go to their experts and come back. If `experts` is sharded over
///             another axis, hidden values are summed over it, too. Therefore, rather shard `hidden` over that axis.
/// errors      T01 `x` lacks `queue` or `model`; S03 there are more choices than experts
/// source      Gale et al., arXiv:2211.15841; Tan et al., arXiv:2403.08245
inline constexpr library_layer dropless_mixture_of_experts = detail::dropless_mixture_of_experts_body{};

}  // namespace meshtensor::nn
