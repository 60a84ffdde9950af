// SPDX-License-Identifier: Apache-2.0
// each and map: one body for all indices of a dim at once, each index by itself.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/op/each/call_errors.hpp"
#include "meshtensor/op/each/record_each.hpp"
#include "meshtensor/op/iota.hpp"

namespace meshtensor {

/// Runs `body` once for every index of `dim`, all at once and each index by itself: `auto loss = each(s / "members",
/// member, std::tuple(x, y), [](auto m, auto x, auto y) {…})`. The body is written for one index, so no tensor in it
/// has the dim. It sees its slice of an operand that has the dim, and the whole of any other operand or outer tensor.
/// The parameters, states, inputs and outputs that it declares have the dim, so that each index has its own. It may
/// train them: gradients and updates in the body are those of one index. Conditions may differ by index.
///
/// dims    the results of the body, with `dim` in front. A body without results returns nothing
/// layout  shard the dim like any other dim. A rank that holds one index does the work of the body alone
/// grad    the gradient of each index. In the body, gradients are those of the sum of all indices' losses, which is the
///         index's own loss unless `across` is used. By a tensor from outside, each index gets a gradient of its own
/// random  the numbers of an index are its slice of numbers that have `dim` in front. So are the first values of
///         variables, unless the last argument is `mt::start_equal`: then all indices start with the same numbers
/// errors  G42 nested too deep, or twice over one dim; G44 an outer tensor has the dim; G46 a decision or an operation
///         that cannot differ by index; G47 an outer variable gets a next value that differs by index; T44 a result has
///         the dim already
template <scope S, dim_type D, class Xs, class Body>
requires(detail::is_handles<Xs>)
constexpr auto each(S const& s, D, Xs const& operands, Body const& body, each_start start = each_start::apart,
                    detail::each_line<S, D, Xs, Body> const& where = {}) {
  return detail::record_each<false, D>(s, where, operands, body, start);
}
template <scope S, dim_type D, class Body>
requires(!detail::is_handles<Body>)
constexpr auto each(S const& s, D, Body const& body, each_start start = each_start::apart,
                    detail::each_line<S, D, std::tuple<>, Body> const& where = {}) {
  return detail::record_each<false, D>(s, where, std::tuple<>{}, body, start);
}

/// `each` with shared parameters: the parameters, states, inputs and outputs that the body declares lack the dim, so
/// all indices have the same. For example, per-example gradients of ordinary layers are written with `map`.
template <scope S, dim_type D, class Xs, class Body>
requires(detail::is_handles<Xs>)
constexpr auto map(S const& s, D, Xs const& operands, Body const& body,
                   detail::each_line<S, D, Xs, Body> const& where = {}) {
  return detail::record_each<true, D>(s, where, operands, body);
}
template <scope S, dim_type D, class Body>
requires(!detail::is_handles<Body>)
constexpr auto map(S const& s, D, Body const& body, detail::each_line<S, D, std::tuple<>, Body> const& where = {}) {
  return detail::record_each<true, D>(s, where, std::tuple<>{}, body);
}

/// Rejects a call whose first argument is no scope, whose second is no dim, or whose body comes before its operands.
template <class S, detail::argument D, detail::argument A, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given>
requires(detail::is_wrong_each<S, D, A, B>)
constexpr auto each(S const& s, D const& d, A const& a, B const& b = {}, C const& c = {},
                    detail::refused_each<S, D> const& = {}) {
  return detail::start_of_refused(s, d, a, b, c);
}
template <class S, detail::argument D, detail::argument A, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given>
requires(detail::is_wrong_each<S, D, A, B>)
constexpr auto map(S const& s, D const& d, A const& a, B const& b = {}, C const& c = {},
                   detail::refused_each<S, D> const& = {}) {
  return detail::start_of_refused(s, d, a, b, c);
}

/// In the body of an `each` over `dim`, the values of all indices: `across(loss, member)` has the dim, and is the same
/// for all indices. For example, `mean(across(g, replica), replica)` averages a gradient over replicas.
///
/// dims    those of `x`, with `dim` in front
/// grad    each index gets its slice of the cotangents of all indices, added up
/// errors  G43 the tensor has the dim already; G45 outside of an `each` over the dim
template <handle H, dim_type D>
constexpr auto across(H const& x, D, detail::across_line<H, D> const& where = {}) {
  return detail::record_across<D>(x, where);
}

/// The option of a layer that reduces over the values of all indices of an `each`: see `across` with one argument.
template <dim_type D>
struct all_indices {};

/// The option of a layer, in the body of an `each` over `dim`, to reduce over the values of all indices. For example,
/// `batch_norm(s / "norm", x, channels, mt::across(replica))` normalizes over the batches of all replicas. Where no
/// `each` over the dim is open, the option changes nothing, so the same layer serves the program of one replica alone.
template <dim_type D>
constexpr all_indices<D> across(D) {
  return {};
}

/// In the body of an `each` over `dim`, this index's slice of a tensor that is the same for all: `own(roll(across(x,
/// member), member, 1), member)` is the tensor of the neighbour.
///
/// dims    those of `x` without `dim`
/// grad    the slices of all indices, put together
/// errors  G45 outside of an `each` over the dim; T01 the tensor lacks the dim
template <handle H, dim_type D>
constexpr auto own(H const& x, D, detail::own_line<H, D> const& where = {}) {
  return detail::record_own<D>(x, where);
}

/// In the body of an `each` over `dim`, the number of this index, as i64.
///
/// errors  G45 outside of an `each` over the dim
template <scope S, dim_type D>
constexpr tensor<dtype::i64> index(S const& s, D dim, line const& where = {}) {
  builder& b = s.graph_builder();
  detail::recording const r(&b, where);
  detail::require_each(b, detail::dim_of(b, dim), "index");
  return {&b, add_node<hide_rule>(b, {iota(b, detail::dim_of(b, dim), dtype::i64)},
                                  view_attributes{detail::dim_of(b, dim), false}.packed())};
}

}  // namespace meshtensor
