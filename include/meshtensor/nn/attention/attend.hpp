// SPDX-License-Identifier: Apache-2.0
// Attends: the masked scores, the mean of the values, the logarithm of the sum of their weights, and their gradients.
#pragma once

#include <limits>
#include <tuple>

#include "meshtensor/nn/attention/operands.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/detail/composed.hpp"
#include "meshtensor/op/detail/row_sum.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/softmax.hpp"

namespace meshtensor::nn::detail {

constexpr shape scores_rule(shape const& q, shape const& k, shape const& head) {
  return united(without(q, head), without(k, head));
}
constexpr shape weighted_sum_rule(shape const& weights, shape const& v, shape const& memory) {
  return united(without(weights, memory), without(v, memory));
}

/// The product of two tensors of one dtype, with the dims of a third one.
template <handle Like, handle X, handle Y>
constexpr auto einsum_like(Like const& like, X const& x, Y const& y) {
  builder& b = *like.owner;
  value_id const inside[] = {x.id, y.id};
  return handle_t<X::type, typename Like::dim_list>(&b, einsum(b, inside, b.m.values[like.id].dims));
}

/// `x` where the query may attend to the key, and `hidden` elsewhere. `visible` is empty or one mask.
template <bool Causal, handle H, class Length, class Memory, handle... Visible>
constexpr H shown(H const& x, number const& hidden, Length length, Memory memory, Visible const&... visible) {
  if constexpr (Causal) return select(meshtensor::detail::not_after(*x.owner, length, memory), x, hidden);
  else if constexpr (sizeof...(Visible) > 0) return select(visible..., x, hidden);
  else return x;
}

/// The attention scores. The score of a masked key is the least finite number.
template <bool Causal, handle Q, handle K, class Length, class Memory, class Head, handle... Visible>
constexpr auto scores(Q const& q, K const& k, Length length, Memory memory, Head head, Visible const&... visible) {
  auto const all = meshtensor::detail::einsum_by<scores_rule, dims<Head>>(q, k) * rsqrt(extent(head));
  return shown<Causal>(all, meshtensor::detail::least_finite_like<Q>, length, memory, visible...);
}

/// The mean of the values, and the logarithm of the sum of their weights. The logarithm has a gradient only if `BySum`.
/// For bf16 it is an f32, because half a unit in the last place of a bf16 beyond 256 is 1, which would change all
/// weights of the gradient by a factor of e.
template <bool Causal, bool BySum, handle Q, handle K, handle V, class Length, class Memory, class Head,
          handle... Visible>
constexpr auto attend(Q const& q, K const& k, V const& v, Length length, Memory memory, Head head, line const& where,
                      Visible const&... visible) {
  if constexpr (nothing_found<decltype(attention_finding<Q, K, V, Length, Memory, Head, Visible...>())>) {
    meshtensor::detail::composed const here(meshtensor::detail::owner_of(q, k, v), where);
    constexpr dtype inner = accumulator_of(Q::type);
    return composite_with_gradient(
        Causal                   ? name("nn.causal_attention")
        : sizeof...(Visible) > 0 ? name("nn.masked_attention")
                                 : name("nn.attention"),
        [=](Q const& a, K const& b, V const& c, Visible const&... open) {
          auto const s = scores<Causal>(a, b, length, memory, head, open...);
          auto const greatest = meshtensor::detail::kept_finite(max(s, memory));
          auto const e = shown<Causal>(exp(s - greatest), 0, length, memory, open...);
          auto const total = meshtensor::detail::as_divisor(sum(cast<inner>(e), memory));
          auto const weights = e / cast<Q::type>(total);
          auto const output = meshtensor::detail::einsum_by<weighted_sum_rule, dims<Memory>>(weights, c);
          auto const log_total = log(total);
          return std::tuple(output, log_total + cast<inner>(greatest));
        },
        // Dao et al., arXiv:2205.14135: the weights are recomputed from the logarithm of their sum.
        [=](Q const& a, K const& b, V const& c, Visible const&... open, auto y, auto log_sum, auto dy,
            auto... d_log_sum)
        requires(sizeof...(d_log_sum) == (BySum ? 1 : 0))
        {
          auto const s = scores<Causal>(a, b, length, memory, head, open...);
          auto const wide_weights = shown<Causal>(exp(cast<inner>(s) - log_sum), 0, length, memory, open...);
          auto const weights = cast<Q::type>(wide_weights);
          auto const dc = einsum_like(c, weights, dy);
          auto const d_weights = einsum_like(weights, dy, c);
          auto const common = einsum_like(log_sum, dy, y);  // rounded as d_weights, which it equals for a single key
          auto const delta = (cast<inner>(d_weights - common) + ... + d_log_sum);
          auto const d_scores = cast<Q::type>(cast<inner>(weights) * delta * rsqrt(extent(head)));
          auto const da = einsum_like(a, d_scores, b);
          auto const db = einsum_like(b, d_scores, a);
          return std::tuple(da, db, dc, open...);  // bools have no gradient
        },
        q, k, v, visible...);
  } else {
    auto const first = meshtensor::detail::given_up(q);
    return std::tuple(first, first);
  }
}

/// Attention and the logarithm of the sum of its weights. If a query sees nothing, the composite gives the least finite
/// number for its logarithm, so that the operands of the gradient are finite. This function replaces that number by the
/// logarithm of 0.
template <handle Q, handle K, handle V, class Length, class Memory, class Head, handle... Visible>
constexpr auto attend_with_log_sum(Q const& q, K const& k, V const& v, Length length, Memory memory, Head head,
                                   line const& where, Visible const&... visible) {
  meshtensor::detail::composed const here(meshtensor::detail::owner_of(q, k, v), where);
  auto const [y, log_sum] = attend<false, true>(q, k, v, length, memory, head, where, visible...);
  constexpr double least = meshtensor::detail::least_finite_like<Q>;
  auto const wide = select(log_sum < least / 2, -std::numeric_limits<double>::infinity(), log_sum);
  return std::tuple(y, cast<Q::type>(wide));
}

}  // namespace meshtensor::nn::detail
