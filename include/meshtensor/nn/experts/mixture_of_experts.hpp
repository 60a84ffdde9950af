// SPDX-License-Identifier: Apache-2.0
// Defines `mixture_of_experts`, whose experts serve as many tokens as they have slots.
#pragma once

#include <tuple>

#include "meshtensor/nn/experts/route.hpp"
#include "meshtensor/nn/linear.hpp"
#include "meshtensor/op/activation.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/scatter_add.hpp"

namespace meshtensor::nn {

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

}  // namespace meshtensor::nn
