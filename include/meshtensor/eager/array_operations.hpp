// SPDX-License-Identifier: Apache-2.0
// Defines the operations of programs on arrays, by the same names, for example `softmax(x * 2, d_model)`. They compute
// at once. For layers, losses and control flow, use `at_once` or an eager scope. Random numbers need a scope, because
// their seed depends on its path. == and != compare two arrays as a whole.
#pragma once

#include "meshtensor/eager/eager.hpp"
#include "meshtensor/op/activation.hpp"
#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/concat.hpp"
#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/pad.hpp"
#include "meshtensor/op/put.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/reshape.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/softmax.hpp"
#include "meshtensor/op/sort.hpp"
#include "meshtensor/op/stack.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

/// An array whose type names its dims.
template <class A>
concept named_array = any_array_like<A> && requires { typename A::dim_list; };

namespace detail {
template <class A, class B>
concept array_operands = (named_array<A> && (named_array<B> || number_like<B>)) || (number_like<A> && named_array<B>);
}  // namespace detail

template <class A, class B>
requires detail::array_operands<A, B>
auto operator+(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x + y; }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto operator-(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x - y; }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto operator*(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x * y; }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto operator/(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x / y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator%(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x % y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator<(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x < y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator<=(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x <= y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator>(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x > y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator>=(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x >= y; }, a, b);
}
template <named_array A, named_array B>
auto operator&&(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x && y; }, a, b);
}
template <named_array A, named_array B>
auto operator||(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x || y; }, a, b);
}
template <named_array A>
auto operator-(A const& a) {
  return at_once([](auto const& x) { return -x; }, a);
}
template <named_array A>
auto operator!(A const& a) {
  return at_once([](auto const& x) { return !x; }, a);
}

template <named_array A>
auto exp(A const& a) {
  return at_once([](auto const& x) { return exp(x); }, a);
}
template <named_array A>
auto log(A const& a) {
  return at_once([](auto const& x) { return log(x); }, a);
}
template <named_array A>
auto sqrt(A const& a) {
  return at_once([](auto const& x) { return sqrt(x); }, a);
}
template <named_array A>
auto rsqrt(A const& a) {
  return at_once([](auto const& x) { return rsqrt(x); }, a);
}
template <named_array A>
auto sin(A const& a) {
  return at_once([](auto const& x) { return sin(x); }, a);
}
template <named_array A>
auto cos(A const& a) {
  return at_once([](auto const& x) { return cos(x); }, a);
}
template <named_array A>
auto tanh(A const& a) {
  return at_once([](auto const& x) { return tanh(x); }, a);
}
template <named_array A>
auto sigmoid(A const& a) {
  return at_once([](auto const& x) { return sigmoid(x); }, a);
}
template <named_array A>
auto erf(A const& a) {
  return at_once([](auto const& x) { return erf(x); }, a);
}
template <named_array A>
auto relu(A const& a) {
  return at_once([](auto const& x) { return relu(x); }, a);
}
template <named_array A>
auto gelu(A const& a) {
  return at_once([](auto const& x) { return gelu(x); }, a);
}
template <named_array A>
auto gelu_tanh(A const& a) {
  return at_once([](auto const& x) { return gelu_tanh(x); }, a);
}
template <named_array A>
auto silu(A const& a) {
  return at_once([](auto const& x) { return silu(x); }, a);
}
template <named_array A>
auto softsign(A const& a) {
  return at_once([](auto const& x) { return softsign(x); }, a);
}
template <named_array A>
auto abs(A const& a) {
  return at_once([](auto const& x) { return abs(x); }, a);
}
template <named_array A>
auto sign(A const& a) {
  return at_once([](auto const& x) { return sign(x); }, a);
}
template <named_array A>
auto floor(A const& a) {
  return at_once([](auto const& x) { return floor(x); }, a);
}
template <dtype T, named_array A>
auto cast(A const& a) {
  return at_once([](auto const& x) { return cast<T>(x); }, a);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto maximum(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return maximum(x, y); }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto minimum(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return minimum(x, y); }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto power(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return power(x, y); }, a, b);
}
template <named_array C, class A, class B>
auto select(C const& condition, A const& yes, B const& no) {
  return at_once([](auto const& c, auto const& x, auto const& y) { return select(c, x, y); }, condition, yes, no);
}

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
template <named_array A, class... More>
auto einsum(A const& a, More const&... more) {
  return at_once([](auto const&... x) { return einsum(x...); }, a, more...);
}

template <named_array A, dim_type... D>
auto transpose(A const& a, to_dims<D...> order) {
  return at_once([](auto const& x, auto t) { return transpose(x, t); }, a, order);
}
template <named_array A, dim_type... D>
auto broadcast(A const& a, to_dims<D...> result) {
  return at_once([](auto const& x, auto t) { return broadcast(x, t); }, a, result);
}
template <named_array A, dim_type F, dim_type T>
auto rename(A const& a, F from, T into) {
  return at_once([](auto const& x, auto f, auto t) { return rename(x, f, t); }, a, from, into);
}
template <named_array A, dim_type F, dim_type T>
auto slice(A const& a, F from, T part, number const& first, number const& step = 1) {
  return at_once([](auto const& x, auto f, auto t, auto const& n, auto const& k) { return slice(x, f, t, n, k); }, a,
                 from, part, first, step);
}
template <named_array A, dim_type F, dim_type T, named_array I>
auto slice(A const& a, F from, T part, I const& start) {
  return at_once([](auto const& x, auto f, auto t, auto const& i) { return slice(x, f, t, i); }, a, from, part, start);
}
template <named_array A, dim_type F, dim_type T>
auto pad(A const& a, F from, T wide, number const& first, number const& around = 0, number const& step = 1) {
  return at_once(
      [](auto const& x, auto f, auto t, auto const& n, auto const& v, auto const& k) { return pad(x, f, t, n, v, k); },
      a, from, wide, first, around, step);
}
template <named_array A, named_array P, dim_type D>
auto put(A const& a, P const& part, D along, number const& position) {
  return at_once([](auto const& x, auto const& p, auto d, auto const& n) { return put(x, p, d, n); }, a, part, along,
                 position);
}
template <named_array A, named_array P, dim_type D, named_array I>
auto put(A const& a, P const& part, D along, I const& index) {
  return at_once([](auto const& x, auto const& p, auto d, auto const& i) { return put(x, p, d, i); }, a, part, along,
                 index);
}
template <named_array A, named_array P, dim_type F, dim_type T, named_array I>
auto put(A const& a, P const& part, F from, T to, I const& start) {
  return at_once([](auto const& x, auto const& p, auto f, auto t, auto const& i) { return put(x, p, f, t, i); }, a,
                 part, from, to, start);
}
template <named_array A, dim_type DA, named_array B, dim_type DB, dim_type T>
auto concat(A const& a, DA da, B const& b, DB db, T joined) {
  return at_once([](auto const& x, auto dx, auto const& y, auto dy, auto t) { return concat(x, dx, y, dy, t); }, a, da,
                 b, db, joined);
}
template <named_array A, dim_type... P, dim_type J>
auto merge(A const& a, to_dims<P...> parts, J joined) {
  return at_once([](auto const& x, auto p, auto j) { return merge(x, p, j); }, a, parts, joined);
}
template <named_array A, dim_type J, dim_type... P>
auto split(A const& a, J joined, to_dims<P...> parts) {
  return at_once([](auto const& x, auto j, auto p) { return split(x, j, p); }, a, joined, parts);
}
template <named_array A, named_array I, dim_type D>
auto gather(A const& table, I const& index, D along) {
  return at_once([](auto const& x, auto const& i, auto d) { return gather(x, i, d); }, table, index, along);
}
template <named_array A, named_array I, dim_type D, dim_type... T>
auto scatter_add(A const& a, I const& index, D along, to_dims<T...> result) {
  return at_once([](auto const& x, auto const& i, auto d, auto t) { return scatter_add(x, i, d, t); }, a, index, along,
                 result);
}
template <named_array A, named_array B, named_array I, dim_type D, dim_type... T>
auto grouped_einsum(A const& a, B const& b, I const& index, D groups, to_dims<T...> result) {
  return at_once(
      [](auto const& x, auto const& y, auto const& i, auto d, auto t) { return grouped_einsum(x, y, i, d, t); }, a, b,
      index, groups, result);
}
template <named_array A, named_array B, dim_type... T, class... W>
auto conv(A const& a, B const& kernel, to_dims<T...> result, W const&... windows) {
  return at_once([&](auto const& x, auto const& k, auto t) { return conv(x, k, t, windows...); }, a, kernel, result);
}
template <named_array A, named_array B, dim_type... T, class... W>
auto conv_transposed(A const& a, B const& kernel, to_dims<T...> result, W const&... windows) {
  return at_once([&](auto const& x, auto const& k, auto t) { return conv_transposed(x, k, t, windows...); }, a, kernel,
                 result);
}
template <named_array A, class... W>
auto max_pool(A const& a, W const&... windows) {
  return at_once([&](auto const& x) { return max_pool(x, windows...); }, a);
}
template <named_array A, class... W>
auto sum_pool(A const& a, W const&... windows) {
  return at_once([&](auto const& x) { return sum_pool(x, windows...); }, a);
}
template <named_array A, class... W>  // a mean_over may follow the windows
auto mean_pool(A const& a, W const&... windows) {
  return at_once([&](auto const& x) { return mean_pool(x, windows...); }, a);
}
template <named_array I, dim_type D, dtype T>
auto one_hot(I const& index, D along, dtype_constant<T> type) {
  return at_once([](auto const& i, auto d, auto t) { return one_hot(i, d, t); }, index, along, type);
}

template <named_array A, dim_type D>
auto cumulative_sum(A const& a, D along, cumulative const& which = {}) {
  return at_once([&](auto const& x, auto d) { return cumulative_sum(x, d, which); }, a, along);
}
template <named_array A, dim_type D>
auto roll(A const& a, D along, std::int64_t by) {
  return at_once([&](auto const& x, auto d) { return roll(x, d, by); }, a, along);
}
template <named_array A, dim_type D>
auto shift(A const& a, D along, std::int64_t by, number const& around = 0) {
  return at_once([&](auto const& x, auto d) { return shift(x, d, by, around); }, a, along);
}
template <named_array A, dim_type D>
auto reverse(A const& a, D along) {
  return at_once([](auto const& x, auto d) { return reverse(x, d); }, a, along);
}
template <named_array A, dim_type D>
auto argsort(A const& a, D along, sort_order order = sort_order::ascending) {
  return at_once([&](auto const& x, auto d) { return argsort(x, d, order); }, a, along);
}
template <named_array A, dim_type D>
auto sort(A const& a, D along, sort_order order = sort_order::ascending) {
  return at_once([&](auto const& x, auto d) { return sort(x, d, order); }, a, along);
}
template <named_array... A, dim_type D>
auto stack(std::tuple<A...> const& all, D along) {
  return std::apply(
      [&](A const&... a) { return at_once([&](auto const&... x) { return stack(std::tuple(x...), along); }, a...); },
      all);
}
template <named_array A, dim_type D>
auto unstack(A const& a, D along) {
  return at_once([](auto const& x, auto d) { return unstack(x, d); }, a, along);
}

/// The index along a dim. If the dim's type leaves its extent open, give the extent: `iota(batch, mt::i32, batch(4))`.
template <dim_type D, dtype T, std::same_as<dim_extent>... E>
auto iota(D along, dtype_constant<T> type, E const&... extents) {
  eager<> const s(extents...);
  return s.value(iota(s, along, type));
}

}  // namespace meshtensor
