// SPDX-License-Identifier: Apache-2.0
// Attention: each query position takes the mean of the values, weighted by how well their keys match its query.
#pragma once

#include <limits>
#include <tuple>

#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/softmax.hpp"

namespace meshtensor::nn {

namespace detail {

constexpr shape scores_rule(shape const& q, shape const& k, shape const& head) { return without(united(q, k), head); }
constexpr shape weighted_sum_rule(shape const& weights, shape const& v, shape const& memory) {
  return without(united(weights, v), memory);
}
/// `x` with `heads` and `head` in place of `model`. Each position then has one row, so gradients read it without a
/// transpose.
constexpr shape projected_rule(shape const& x, shape const&, shape const& model, shape const& heads,
                               shape const& head) {
  shape r{};
  for (int i = 0; i < x.count; ++i) {
    if (x.at[i] == model.at[0]) r.add(heads.at[0]);
    r.add(x.at[i] == model.at[0] ? head.at[0] : x.at[i]);
  }
  return r;
}

template <class Like, handle... H>
constexpr auto einsum_like(Like const& like, H const&... operands) {
  builder& b = *like.owner;
  value_id const inside[] = {operands.id...};
  return handle_t<Like::type, typename Like::dim_list>(&b, einsum(b, inside, b.m.values[like.id].dims));
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

/// An error if queries and keys count their positions by the same dim, or if the mask does not fit.
template <class Length, class Memory, class... Visible>
consteval auto positions_finding() {
  using meshtensor::detail::refusal;
  if constexpr (std::is_same_v<Length, Memory>)
    return refusal<
        "T10 attention takes two dims of positions, of the queries and of the keys: declare a second one of the same "
        "extent, mt::dim<\"memory\", length + 0>",
        Length, Memory>{};
  else if constexpr (!((of_bool<Visible> && has_dim<Visible, Memory>) && ...))
    return refusal<"T01 attention: the mask must be a bool tensor with the dim of the key positions", Visible...,
                   Memory>{};
  else return no_error{};
}

/// The first error in the operands of attention.
template <handle Q, handle K, handle V, dim_type Length, dim_type Memory, dim_type Head, handle... Visible>
consteval auto attention_finding() {
  using meshtensor::detail::refusal;
  if constexpr (std::is_same_v<Length, Memory>) return positions_finding<Length, Memory>();
  else if constexpr (!(has_dim<Q, Length> && has_dim<Q, Head>))
    return refusal<"T01 attention: the queries lack a dim", Q, Length, Head>{};
  else if constexpr (!(has_dim<K, Memory> && has_dim<K, Head>))
    return refusal<"T01 attention: the keys lack a dim", K, Memory, Head>{};
  else if constexpr (!has_dim<V, Memory>)
    return refusal<"T01 attention: the values lack the dim of the key positions", V, Memory>{};
  else if constexpr (!(same_dtype_as<Q, K> && same_dtype_as<Q, V>))
    return refusal<"T02 the dtypes of the operands differ: cast one of them", Q, K, V>{};
  else if constexpr (!of_float<Q>) return refusal<"T04 this function takes tensors of floats: cast the operand", Q>{};
  else return positions_finding<Length, Memory, Visible...>();
}
/// The line of a call of attention. It cannot be made if the operands have an error.
template <class... Operands>
using attention_line = checked_line<decltype(attention_finding<Operands...>())>;

/// The mean of the values, and the logarithm of the sum of their weights. The logarithm has a gradient only if `BySum`.
template <bool Causal, bool BySum, handle Q, handle K, handle V, class Length, class Memory, class Head,
          handle... Visible>
constexpr auto attend(Q const& q, K const& k, V const& v, Length length, Memory memory, Head head, line const& where,
                      Visible const&... visible) {
  if constexpr (nothing_found<decltype(attention_finding<Q, K, V, Length, Memory, Head, Visible...>())>) {
    meshtensor::detail::composed const here(meshtensor::detail::owner_of(q, k, v), where);
    return composite_with_gradient(
        Causal                   ? name("nn.causal_attention")
        : sizeof...(Visible) > 0 ? name("nn.masked_attention")
                                 : name("nn.attention"),
        [=](Q const& a, K const& b, V const& c, Visible const&... open) {
          auto const s = scores<Causal>(a, b, length, memory, head, open...);
          auto const greatest = meshtensor::detail::kept_finite(max(s, memory));
          auto const e = shown<Causal>(exp(s - greatest), 0, length, memory, open...);
          auto const total = meshtensor::detail::as_divisor(sum(e, memory));
          auto const output = meshtensor::detail::einsum_by<weighted_sum_rule, dims<Memory>>(e / total, c);
          return std::tuple(output, log(total) + greatest);
        },
        // Dao et al., arXiv:2205.14135: the weights are recomputed from the logarithm of their sum.
        [=](Q const& a, K const& b, V const& c, Visible const&... open, auto y, auto log_sum, auto dy,
            auto... d_log_sum)
        requires(sizeof...(d_log_sum) == (BySum ? 1 : 0))
        {
          auto const s = scores<Causal>(a, b, length, memory, head, open...);
          auto const weights = shown<Causal>(exp(s - log_sum), 0, length, memory, open...);
          auto const dc = einsum_like(c, weights, dy);
          auto const d_weights = einsum_like(weights, dy, c);
          auto const delta = ((d_weights - einsum_like(log_sum, dy, y)) + ... + d_log_sum);
          auto const d_scores = weights * delta * rsqrt(extent(head));
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
  return std::tuple(y, select(log_sum < least / 2, -std::numeric_limits<double>::infinity(), log_sum));
}

template <bool Causal>
struct attention_body {
  template <handle X, handle Y, dim_type Length, dim_type Memory, dim_type Model, dim_type Heads, dim_type Head,
            handle... Visible>
  static consteval auto finding() {
    using meshtensor::detail::refusal;
    if constexpr (!(has_dim<X, Length> && has_dim<X, Model>))
      return refusal<"T01 attention: the operand lacks a dim", X, Length, Model>{};
    else if constexpr (!(has_dim<Y, Memory> && has_dim<Y, Model>))
      return refusal<"T01 attention: what is attended to lacks a dim", Y, Memory, Model>{};
    else return positions_finding<Length, Memory, Visible...>();
  }
  template <scope S, handle X, handle Y, handle... Visible>
  constexpr auto operator()(S const& s, X const& x, Y const& y, dim_type auto length, dim_type auto memory,
                            dim_type auto model, dim_type auto heads, dim_type auto head,
                            Visible const&... visible) const {
    auto const project = [&](auto const& from, auto const& weight) {
      return meshtensor::detail::einsum_by<projected_rule, dims<decltype(model)>, dims<decltype(heads)>,
                                           dims<decltype(head)>>(from, weight);
    };
    auto const start = normal(1 / sqrt(extent(model)));
    auto const q = project(x, s.parameter("query", model, heads, head, start));
    auto const k = project(y, s.parameter("key", model, heads, head, start));
    auto const v = project(y, s.parameter("value", model, heads, head, start));
    auto const output = std::get<0>(attend<Causal, false>(q, k, v, length, memory, head, s.where(), visible...));
    auto const out = s.parameter("out", heads, head, model, normal(1 / sqrt(extent(heads) * extent(head))));
    return einsum_like(x, output, out);
  }
};

template <bool Causal>
struct self_attention_body {
  template <handle X, dim_type Length, dim_type Memory, dim_type Model, dim_type Heads, dim_type Head,
            handle... Visible>
  static consteval auto finding() {
    using meshtensor::detail::refusal;
    if constexpr (!(has_dim<X, Length> && has_dim<X, Model>))
      return refusal<"T01 attention: the operand lacks a dim", X, Length, Model>{};
    else return positions_finding<Length, Memory, Visible...>();
  }
  template <scope S, handle X, handle... Visible>
  constexpr auto operator()(S const& s, X const& x, dim_type auto length, dim_type auto memory, dim_type auto model,
                            dim_type auto heads, dim_type auto head, Visible const&... visible) const {
    return attention_body<Causal>{}(s, x, rename(x, length, memory), length, memory, model, heads, head, visible...);
  }
};

}  // namespace detail

/// Attention, softmax(Q Kᵀ / √head) V, for every index of the other dims. It is the composite `nn.attention`, so a
/// device may implement it by a faster kernel.
///
/// dims    q [length, head, …], k [memory, head, …], v [memory, head, …] -> those of q and k without `head`, those of
///         v, all without `memory`
/// layout  any dim but `head` and `memory` may be sharded without communication
/// grad    weights are recomputed from one number for each query, so nothing of length × memory is saved
/// errors  T01 an operand lacks its dim; T02 the dtypes differ
/// source  Vaswani et al., arXiv:1706.03762, section 3.2.1
template <handle Q, handle K, handle V, dim_type Length, dim_type Memory, dim_type Head>
constexpr auto dot_product_attention(Q const& q, K const& k, V const& v, Length length, Memory memory, Head head,
                                     detail::attention_line<Q, K, V, Length, Memory, Head> const& where = {}) {
  return std::get<0>(detail::attend<false, false>(q, k, v, length, memory, head, where));
}
/// Masked attention, in which a query attends only to the positions of `memory` where `visible` holds. For example,
/// `visible` [batch, memory] serves sentences that are padded to one length. It is the composite `nn.masked_attention`.
/// If all positions are masked, the result and its gradient are zero. A device need not read positions that are masked
/// for all queries, so a NaN there may not reach the result.
template <handle Q, handle K, handle V, dim_type Length, dim_type Memory, dim_type Head, handle Visible>
constexpr auto dot_product_attention(Q const& q, K const& k, V const& v, Length length, Memory memory, Head head,
                                     Visible const& visible,
                                     detail::attention_line<Q, K, V, Length, Memory, Head, Visible> const& where = {}) {
  return std::get<0>(detail::attend<false, false>(q, k, v, length, memory, head, where, visible));
}
/// Causal attention, in which no position attends to later ones. It is the composite `nn.causal_attention`.
template <handle Q, handle K, handle V, dim_type Length, dim_type Memory, dim_type Head>
constexpr auto causal_dot_product_attention(Q const& q, K const& k, V const& v, Length length, Memory memory, Head head,
                                            detail::attention_line<Q, K, V, Length, Memory, Head> const& where = {}) {
  return std::get<0>(detail::attend<true, false>(q, k, v, length, memory, head, where));
}

/// `dot_product_attention` and the logarithm of the sum of its weights, logsumexp(Q Kᵀ / √head), as a tuple. With the
/// logarithms, attention over separate sets of positions can be combined to attention over all of them. The combined
/// result is the mean of the results, weighted by the exponentials of their logarithms. If all positions are masked,
/// the result is 0. The logarithm is then -inf, that of an empty sum, because such a result has the weight e^-inf = 0.
///
/// dims    of the logarithm: those of q and k without `head` and `memory`
/// grad    of both results; a query for which all positions are masked has a gradient of 0
template <handle Q, handle K, handle V, dim_type Length, dim_type Memory, dim_type Head>
constexpr auto attention_with_log_sum(Q const& q, K const& k, V const& v, Length length, Memory memory, Head head,
                                      detail::attention_line<Q, K, V, Length, Memory, Head> const& where = {}) {
  return detail::attend_with_log_sum(q, k, v, length, memory, head, where);
}
template <handle Q, handle K, handle V, dim_type Length, dim_type Memory, dim_type Head, handle Visible>
constexpr auto attention_with_log_sum(
    Q const& q, K const& k, V const& v, Length length, Memory memory, Head head, Visible const& visible,
    detail::attention_line<Q, K, V, Length, Memory, Head, Visible> const& where = {}) {
  return detail::attend_with_log_sum(q, k, v, length, memory, head, where, visible);
}

/// Multi-head self-attention: `attention(s / "attention", x, length, memory, d_model, heads, d_head)`. Here `memory` is
/// a second name for `length`, with the same extent. A mask may follow: a tensor of bools with the dim `memory`.
///
/// parameters  query, key, value [model, heads, head]; out [heads, head, model]
/// dims        those of `x`
/// errors      T01 `x` lacks a dim
/// source      Vaswani et al., arXiv:1706.03762, section 3.2.2
inline constexpr library_layer attention = detail::self_attention_body<false>{};

/// Multi-head self-attention in which no position attends to later ones.
inline constexpr library_layer causal_attention = detail::self_attention_body<true>{};

/// Multi-head attention of `x` to another sequence `y`, which has `memory` where `x` has `length`:
/// `cross_attention(s / "over", x, y, length, memory, d_model, heads, d_head)`. A mask may follow, as for `attention`.
inline constexpr library_layer cross_attention = detail::attention_body<false>{};

}  // namespace meshtensor::nn
