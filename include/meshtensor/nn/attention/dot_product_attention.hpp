// SPDX-License-Identifier: Apache-2.0
// Attention of queries to keys and values that are given: plain, masked, causal, or with the logarithms of its weights.
#pragma once

#include <tuple>

#include "meshtensor/nn/attention/attend.hpp"

namespace meshtensor::nn {

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

}  // namespace meshtensor::nn
