// SPDX-License-Identifier: Apache-2.0
// scatter_add: adds rows into zeros at the positions of an index, as the gradient of gather does.
#pragma once

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/sum.hpp"
#include "meshtensor/op/detail/lookup.hpp"

namespace meshtensor {

struct scatter_add_rule {
  static constexpr primitive kind = primitive::scatter_add;
  static constexpr declaration declares{
      .operands = {2, 2}, .attributes = {{attribute_kind::dim}}, .work = work_kind::sum, .text = "along {0}"};
  static constexpr void infer(inference& i) {
    dim_id const dim = lookup_attributes::of(i.attributes).dim;
    shape const &x = i.dims_of(0), rest = without(i.dims, shape{}.add(dim));
    i.expect(i.dims.has(dim), "T01 scatter_add: the result lacks the dim along which rows are added", 0, 1);
    i.expect(i.is_integer(1), "T02 scatter_add: the index is not an integer", 2);
    i.expect(x.includes(i.dims_of(1)) && x.includes(rest),
             "T01 scatter_add: the operand lacks a dim of the index or of the result: broadcast it", 3);
    i.expect(!x.has(dim), "T03 scatter_add: the operand already has the dim along which rows are added: rename it", 1,
             1);
    i.give(i[0].type, i.dims);
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}
        .contracted(reduction::sum)
        .looks_up(lookup_attributes::of(n).dim)
        .passes_partial(linearity::separate, meshtensor::sharding::kind(reduction::sum), 1);
  }
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    return extents.local_size(m.operand_value(n, 0));
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const x = d.b.m.operand(n, 0);
    if (!d.differentiable(x)) return;
    value_id term =
        gather(d.b, d.cotangent(d.b.m.result(n)), d.forward(d.b.m.operand(n, 1)), lookup_attributes::of(n).dim);
    shape const dims = d.b.m.values[x].dims;
    if (!d.b.m.values[term].dims.includes(dims)) term = broadcast(d.b, term, dims);  // over dims that were summed
    d.contribute(x, term);
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    view sums = y;  // dense, one for each element of the result
    sums.densify();
    walk<2> w;
    for (int i = 0; i < y.count; ++i) w.extent[w.count++] = y.extent[i];
    w.bind(0, y, y.dim), w.bind(1, sums, y.dim);
    if (w.empty()) return;
    with_element(y.type, [&]<class E>() {
      thread_local dynamic_array<wide_sum<E>> all;  // kept, because later steps take nothing from the heap
      all.assign(static_cast<std::size_t>(y.size()), {});
      detail::each_row(sums, e.operands[1], x, lookup_attributes::of(e.n).dim,
                       [&](bool here, std::int64_t to, std::int64_t from) {
                         if (here) all[static_cast<std::size_t>(to)].add(x.as<E>()[from]);
                       });
      do y.as<E>()[w.offset[0]] = all[static_cast<std::size_t>(w.offset[1])].value();
      while (w.next());
    });
  }
};

/// out[index[i…], rest…] += x[i…, rest…], into zeros with the dims `like`. An index out of range adds nothing. A dim
/// that only `x` has is summed.
constexpr value_id scatter_add(builder& b, value_id x, value_id index, dim_id dim, shape const& like) {
  return add_node<scatter_add_rule>(b, {x, index}, lookup_attributes{dim}.packed(), {dtype::f32, like});
}

// ---- public functions ----

namespace detail {
template <handle X, handle Index, dim_type D, dim_type... To>
consteval auto scatter_finding() {
  if constexpr (!has_dim_v<dims<To...>, D>)
    return refusal<"T01 scatter_add: to(...) lacks the dim along which rows are added", D, To...>{};
  else if constexpr (!((same_dim<To, D> || has_dim<X, To>) && ...))
    return refusal<"T01 scatter_add: the operand lacks a dim of to(...): broadcast it", X, To...>{};
  else if constexpr (!of_integer<Index>) return refusal<"T02 scatter_add: the index is not an integer", Index>{};
  else if constexpr (of_bool<X>) return refusal<"T04 arithmetic on bool: cast the operand", X>{};
  else return no_error{};
}
}  // namespace detail

/// Scatter-adds rows into zeros, as the transpose of `gather`: out[index[i…], rest…] += x[i…, rest…] along `dim`. For
/// example, `scatter_add(x, token, vocab, to(vocab, d_model))`. An index out of range adds nothing. A dim that only `x`
/// has is summed.
///
/// dims    those of `to`
/// layout  if a dim of the index is sharded over an axis, the result is a partial sum
/// grad    gather of the cotangent
/// errors  T01 `to` lacks the dim, or `x` a dim of the index or of `to`; T02 the index is not an integer
template <handle X, handle Index, dim_type D, dim_type... To>
constexpr auto scatter_add(X const& x, Index const& index, D along, to_dims<To...>,
                           checked_line<decltype(detail::scatter_finding<X, Index, D, To...>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::scatter_finding<X, Index, D, To...>())>) {
    detail::recording r(detail::owner_of(x, index), where);
    shape const wanted = detail::shape_of(r.b, dims<To...>{});
    return detail::wrap<X::type, dims<To...>>(r.b,
                                              scatter_add(r.b, x.id, index.id, detail::dim_of(r.b, along), wanted));
  } else {
    return detail::given_up<X::type, dims<To...>>(x);
  }
}

/// Rejects a call in which the dims of the result are not in `to(...)`.
template <handle X, class Index, dim_type D, detail::argument A = detail::none_given,
          detail::argument B = detail::none_given, detail::argument C = detail::none_given>
requires(dim_type<A> || std::same_as<A, detail::none_given>)
constexpr auto scatter_add(X const& x, Index const&, D, A const& = {}, B const& = {}, C const& = {},
                           detail::refused_call<"T26 scatter_add(x, index, along, mt::to(dims of the result)): the "
                                                "dims of the result stand in mt::to(...)",
                                                D, A, B, C> const& = {}) {
  return detail::given_up(x);
}
/// Rejects a call with the dims of the result before the dim that the index counts.
template <handle X, class Index, dim_type... To, dim_type D>
constexpr auto scatter_add(X const& x, Index const&, to_dims<To...>, D,
                           detail::refused_call<"T37 scatter_add(x, index, along, mt::to(dims of the result)): the dim "
                                                "that the index counts comes before mt::to(...)",
                                                D, To...> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor

#include "meshtensor/op/gather.hpp"
