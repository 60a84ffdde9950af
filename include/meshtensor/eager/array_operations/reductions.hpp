// SPDX-License-Identifier: Apache-2.0
// Defines reductions of arrays along dims, running sums, and softmax with its relatives.
#pragma once

#include "meshtensor/eager/array_operations/named_array.hpp"
#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/softmax.hpp"

namespace meshtensor {

template <named_array A, class... More>
auto sum(A const& a, More const&... along) {
  return at_once([](auto const& x, auto const&... m) { return sum(x, m...); }, a, along...);
}
template <named_array A, class... More>
auto mean(A const& a, More const&... along) {
  return at_once([](auto const& x, auto const&... m) { return mean(x, m...); }, a, along...);
}
template <named_array A, class... More>
auto max(A const& a, More const&... along) {
  return at_once([](auto const& x, auto const&... m) { return max(x, m...); }, a, along...);
}
template <named_array A, class... More>
auto min(A const& a, More const&... along) {
  return at_once([](auto const& x, auto const&... m) { return min(x, m...); }, a, along...);
}
template <named_array A, class... More>
auto any(A const& a, More const&... along) {
  return at_once([](auto const& x, auto const&... m) { return any(x, m...); }, a, along...);
}
template <named_array A, class... More>
auto all(A const& a, More const&... along) {
  return at_once([](auto const& x, auto const&... m) { return all(x, m...); }, a, along...);
}
template <named_array A, dim_type D>
auto argmax(A const& a, D along) {
  return at_once([](auto const& x, auto d) { return argmax(x, d); }, a, along);
}
template <named_array A, dim_type D>
auto softmax(A const& a, D along) {
  return at_once([](auto const& x, auto d) { return softmax(x, d); }, a, along);
}
template <named_array A, dim_type D>
auto log_softmax(A const& a, D along) {
  return at_once([](auto const& x, auto d) { return log_softmax(x, d); }, a, along);
}
template <named_array A, dim_type D>
auto logsumexp(A const& a, D along) {
  return at_once([](auto const& x, auto d) { return logsumexp(x, d); }, a, along);
}
template <named_array A, dim_type Q, dim_type K>
auto causal(A const& scores, Q query, K key) {
  return at_once([](auto const& x, auto q, auto k) { return causal(x, q, k); }, scores, query, key);
}
template <named_array A, dim_type D>
auto cumulative_sum(A const& a, D along, cumulative const& which = {}) {
  return at_once([&](auto const& x, auto d) { return cumulative_sum(x, d, which); }, a, along);
}

}  // namespace meshtensor
