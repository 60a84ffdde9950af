// SPDX-License-Identifier: Apache-2.0
// Defines `route`, which sends each token to its best experts, where each expert has room for a number of tokens.
#pragma once

#include <tuple>

#include "meshtensor/nn/experts/router.hpp"
#include "meshtensor/op/argsort.hpp"
#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/scatter_add.hpp"
#include "meshtensor/op/slice.hpp"

namespace meshtensor::nn {

namespace detail {

constexpr shape slots_rule(shape const& x, shape const& queue, shape const& slots) {
  return united(without(x, queue), slots);
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

}  // namespace meshtensor::nn
