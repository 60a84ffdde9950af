// SPDX-License-Identifier: Apache-2.0
// Defines `choose_experts`, which finds the best experts of each token, however many tokens prefer one expert.
#pragma once

#include <tuple>

#include "meshtensor/nn/experts/router.hpp"
#include "meshtensor/op/argsort.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/slice.hpp"

namespace meshtensor::nn {

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

}  // namespace meshtensor::nn
