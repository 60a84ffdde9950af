// SPDX-License-Identifier: Apache-2.0
// Mixture of experts: a router sends each token to its best experts. Each expert has room for a number of tokens, or
// serves all tokens that choose it.
#pragma once

#include <tuple>

#include "meshtensor/nn/linear.hpp"
#include "meshtensor/nn/loss.hpp"
#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/exchange_rows.hpp"
#include "meshtensor/op/grouped_einsum.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/softmax.hpp"
#include "meshtensor/op/sort.hpp"

namespace meshtensor::nn {

namespace detail {

constexpr shape slots_rule(shape const& x, shape const& queue, shape const& slots) {
  return united(without(x, queue), slots);
}

/// The router's probability of each expert for each token.
template <handle X, handle Gate, class Model, class Experts>
constexpr auto probability_of_experts(X const& x, Gate const& gate, Model, Experts along) {
  return softmax(meshtensor::detail::einsum_by<mapped_rule, dims<Model>, dims<Experts>>(summable(x), summable(gate)),
                 along);
}
/// The loss `balance` of `route`.
template <handle P, class Queue, class Experts>
constexpr auto balance_of(P const& probability, Queue queue, Experts experts) {
  auto const favourite = cast<P::type>(one_hot(argmax(probability, experts), experts, boolean));
  return mean(sum(mean(favourite, queue) * mean(probability, queue), experts)) * extent(experts);
}

/// `x` [queue, experts, …] added up in the slots at `place`, the token's position in the queue of each expert.
template <handle X, handle Place, class Queue, class Slots>
constexpr auto in_slots(X const& x, Place const& place, Queue, Slots along) {
  builder& b = *x.owner;
  using result = result_dims_t<slots_rule, typename X::dim_list, dims<Queue>, dims<Slots>>;
  shape const like = slots_rule(b.m.values[x.id].dims, meshtensor::detail::shape_of(b, dims<Queue>{}),
                                meshtensor::detail::shape_of(b, dims<Slots>{}));
  return meshtensor::detail::wrap<X::type, result>(
      b, scatter_add(b, x.id, place.id, meshtensor::detail::dim_of(b, along), like));
}

/// The base of a layer whose tokens lie along `queue` and `model`: its error and the number of its results.
template <meshtensor::detail::literal Lacks, int Results>
struct layer_of_tokens {
  static constexpr int result_count = Results;
  template <handle X, dim_type Queue, dim_type Model, class... Args>
  static consteval auto finding() {
    if constexpr (has_dim<X, Queue> && has_dim<X, Model>) return no_error{};
    else return meshtensor::detail::refusal<Lacks, X, Queue, Model>{};
  }
};
struct route_body : layer_of_tokens<"T01 route: the operand lacks a dim", 4> {
  constexpr auto operator()(scope auto s, handle auto x, dim_type auto queue, dim_type auto model, auto experts,
                            auto choices, auto slots) const {
    auto const gate = s.parameter("gate", model, experts, normal(1 / sqrt(extent(model))));
    auto const probability = detail::probability_of_experts(x, gate, model, experts);
    constexpr dtype wide = decltype(probability)::type;

    auto const preferred = slice(argsort(probability, experts, sort_order::descending), experts, choices, 0);
    auto const chosen = one_hot(preferred, experts, boolean);
    auto const counted = cast<dtype::i32>(chosen);
    auto const ahead = cumulative_sum(counted, queue, {.exclusive = true}) +
                       cumulative_sum(sum(counted, queue), choices, {.exclusive = true});
    auto const place = max(select(chosen, ahead, -1), choices);
    auto const taken = place >= 0;

    auto const number_of_token = iota(s, queue, i32) + 1;
    auto const token = detail::in_slots(select(taken, number_of_token, 0), place, queue, slots) - 1;
    auto const gates = select(taken, probability, 0);
    number const several = minimum(extent(choices) - 1, 1);  // 0 for one choice, else 1
    auto const share = gates / (sum(gates, experts) * several + (1 - several));
    auto const weight = detail::in_slots(share, place, queue, slots);

    auto const balance = detail::balance_of(probability, queue, experts);
    auto const dropped = mean(sum(cast<wide>(place >= extent(slots)), experts)) / extent(choices);
    return std::tuple(token, weight, balance, dropped);
  }
};
}  // namespace detail

/// Sends each token to the experts that a learned router prefers for it:
/// `auto [token, weight, balance, dropped] = route(s / "router", x, length, d_model, experts, choices, slots)`. Each
/// expert has a queue for each index of the other dims of `x`, for example of a batch. A queue begins with the tokens
/// that prefer the expert most, in their order along `queue`. The tokens that prefer it second follow, and so on. The
/// first tokens of a queue, as many as `slots` has, are served. The others are dropped. The mesh does not change which
/// tokens these are.
///
///   token    [experts, slots] and the other dims, i32: the position along `queue` of the token in a slot, or -1 if the
///            slot is empty
///   weight   as `token`: the router's probability of the expert for that token, in the accumulator's type. With two
///            choices or more, those of a token are divided by their sum.
///   balance  a loss that is 1 if all experts are preferred alike, and otherwise up to their number: experts · Σ_e (the
///            share of tokens that prefer e most) · (the mean probability of e), averaged over the queues
///   dropped  the share of choices for which there was no slot
///
/// parameters  gate [model, experts], normal with standard deviation 1/√model
/// layout      if `experts` and a dim of `x` are sharded over one axis, replicate `experts` in the router's scope
/// grad        of `weight` and `balance`, by the probabilities
/// errors      T01 `x` lacks `queue` or `model`; S03 there are more choices than experts
/// source      Fedus et al., arXiv:2101.03961, section 2.2; Lepikhin et al., arXiv:2006.16668, algorithm 1
inline constexpr library_layer route = detail::route_body{};

namespace detail {

/// y = x W + b along one dim, where each expert has its own weight and bias.
inline constexpr library_layer linear_of_each = [](scope auto s, auto x, auto experts, auto from, auto into) {
  auto const weight = s.parameter("weight", experts, from, into, normal(1 / sqrt(extent(from))));
  auto const bias = s.parameter("bias", experts, into, zeros);
  return meshtensor::detail::einsum_by<mapped_rule, dims<decltype(from)>, dims<decltype(into)>>(x, weight) + bias;
};
inline constexpr library_layer feed_forward_of_each = [](scope auto s, auto x, auto experts, auto model, auto hidden) {
  auto const up = linear_of_each(s / "up", x, experts, model, hidden);
  return linear_of_each(s / "down", gelu(up), experts, hidden, model);
};

/// `dispatched` puts the tokens of `x` in their slots. `combined` weighs the experts' results and adds them up for each
/// token.
inline constexpr library_layer dispatched = [](scope auto, auto x, auto token, auto queue) {
  return gather(x, token, queue);
};
inline constexpr library_layer combined = [](scope auto, auto made, auto token, auto weight, auto x, auto queue) {
  using X = decltype(x);
  builder& b = *x.owner;
  auto const weighted = made * cast<X::type>(weight);
  dim_id const along = meshtensor::detail::dim_of(b, queue);
  return handle_t<X::type, typename X::dim_list>(&b,
                                                 scatter_add(b, weighted.id, token.id, along, b.m.values[x.id].dims));
};

struct mixture_of_experts_body : layer_of_tokens<"T01 mixture_of_experts: the operand lacks a dim", 3> {
  constexpr auto operator()(scope auto s, handle auto x, dim_type auto queue, dim_type auto model, auto experts,
                            auto choices, auto slots, auto hidden) const {
    auto const [token, weight, balance, dropped] = route(s / "router", x, queue, model, experts, choices, slots);
    auto const sent = detail::dispatched(s / "router", x, token, queue);
    auto const made = detail::feed_forward_of_each(s / "expert", sent, experts, model, hidden);
    auto const y = detail::combined(s / "router", made, token, weight, x, queue);
    return std::tuple(y, balance, dropped);
  }
};
}  // namespace detail

/// Several feed_forward networks, of which each token takes only the `choices` that a learned router prefers for it:
/// `auto [y, balance, dropped] = mixture_of_experts(s / "experts", x, length, d_model, experts, choices, slots, d_ff)`.
/// Add `balance`, times a factor such as 0.01, to the loss, so that all experts are used. `slots` is the number of
/// tokens that an expert serves for each index of the other dims of `x`. If a token has no slot at any of its experts,
/// its result is zero. Therefore, add `y` to `x`. For networks of your own, use `route` and
///
///   gather(x, token, length)  →  experts of your own  →  scatter_add(made * weight, token, length, to(batch, …))
///
/// parameters  router/gate [model, experts]; expert/up/weight [experts, model, hidden], expert/up/bias [experts,
///             hidden], expert/down/weight, expert/down/bias
/// dims        of y: those of `x`; balance and dropped have none, see `route`
/// layout      `experts` sharded over an axis of its own: each rank serves its experts, and y is a partial sum. If
///             another dim of `x`, for example a batch, is sharded over the same axis, add in<"router",
///             replicate<experts>> and in<"expert", replicate<batch>>. Tokens then go to their experts in one
///             all_to_all, and come back in another.
/// errors      T01 `x` lacks `queue` or `model`; S03 there are more choices than experts
/// source      Shazeer et al., arXiv:1701.06538; Lepikhin et al., arXiv:2006.16668; Fedus et al., arXiv:2101.03961
inline constexpr library_layer mixture_of_experts = detail::mixture_of_experts_body{};

namespace detail {
struct choose_experts_body : layer_of_tokens<"T01 choose_experts: the operand lacks a dim", 3> {
  constexpr auto operator()(scope auto s, handle auto x, dim_type auto queue, dim_type auto model, auto experts,
                            auto choices) const {
    auto const gate = s.parameter("gate", model, experts, normal(1 / sqrt(extent(model))));
    auto const probability = detail::probability_of_experts(x, gate, model, experts);
    auto const expert = slice(argsort(probability, experts, sort_order::descending), experts, choices, 0);
    auto const gates = gather(probability, expert, experts);
    number const several = minimum(extent(choices) - 1, 1);  // 0 for one choice, else 1
    auto const weight = gates / (sum(gates, choices) * several + (1 - several));
    return std::tuple(expert, weight, detail::balance_of(probability, queue, experts));
  }
};
}  // namespace detail

/// The experts that a learned router prefers for each token, however many tokens prefer one expert:
/// `auto [expert, weight, balance] = choose_experts(s / "router", x, length, d_model, experts, choices)`. It drops no
/// token, unlike `route`. Its result says which experts a token has, and that of `route` says which tokens an expert
/// has.
///
///   expert   the dims of `x` without `model`, then `choices`, i64: the best expert first
///   weight   as `expert`: the router's probability of that expert for that token, in the accumulator's type. With two
///            choices or more, those of a token are divided by their sum.
///   balance  as for `route`
///
/// parameters  gate [model, experts], normal with standard deviation 1/√model
/// layout      as for `route`
/// grad        of `weight` and `balance`, by the probabilities
/// errors      T01 `x` lacks `queue` or `model`; S03 there are more choices than experts
inline constexpr library_layer choose_experts = detail::choose_experts_body{};

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
  auto const sent = exchange_rows(x, expert, experts, number(at_most)...);
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
/// `exchange_rows` and `grouped_einsum`.
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
