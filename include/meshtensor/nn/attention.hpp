// SPDX-License-Identifier: Apache-2.0
// Attention: each query position takes the mean of the values, weighted by how well their keys match its query. This
// header has the layers with several heads, whose queries, keys and values are learned maps of their operands.
#pragma once

#include <tuple>

#include "meshtensor/nn/attention/attend.hpp"
#include "meshtensor/nn/attention/dot_product_attention.hpp"
#include "meshtensor/nn/attention/operands.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/rename.hpp"

namespace meshtensor::nn {

namespace detail {

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
