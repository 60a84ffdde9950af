// SPDX-License-Identifier: Apache-2.0
// Lookup by integer index: gathers rows of a table, and scatter-adds rows into one.
#pragma once

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/sum.hpp"
#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

/// Where a gather along a sharded dim looks. The rows that a rank has give a partial sum; a table that its users have
/// whole anyway, or of which all rows are wanted, is gathered instead.
enum class looks_into : std::uint8_t { own_rows, whole_table };

constexpr value_id gather(builder& b, value_id table, value_id index, dim_id dim, shape const& order = {},
                          looks_into where = looks_into::own_rows);
constexpr value_id scatter_add(builder& b, value_id x, value_id index, dim_id dim, shape const& like);

namespace detail {
/// Calls f(table offset, index dims' offset) for every row in range; `rows` has all dims of the lookup but `dim`.
template <class F>
void each_row(view const& table, view const& index, view const& rows, int dim, F f) {
  int const along = table.find(dim);
  walk<3> w;
  for (int i = 0; i < rows.count; ++i) w.extent[w.count++] = rows.extent[i];
  w.bind(0, table, rows.dim), w.bind(1, index, rows.dim), w.bind(2, rows, rows.dim);
  if (w.empty()) return;
  do {
    std::int64_t const global = with_element(index.type, [&]<class I>() {
      return static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(index.as<I>()[w.offset[1]]));
    });
    std::int64_t const local = global < 0 ? -1 : global - table.origin[along];
    bool const here = local >= 0 && local < table.extent[along] && global < table.total[along];
    f(here, w.offset[0] + local * table.stride[along], w.offset[2]);
  } while (w.next());
}
}  // namespace detail

/// Of gather and scatter_add.
struct lookup_attributes {
  dim_id dim;  // of the table, along which the index gives positions

  static constexpr lookup_attributes of(id const* slots) { return {static_cast<dim_id>(slots[0])}; }
  static constexpr lookup_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim}}; }
};

struct gather_rule {
  static constexpr primitive kind = primitive::gather;
  static constexpr declaration declares{
      .operands = {2, 2}, .attributes = {{attribute_kind::dim}}, .functions = 2, .text = "along {0}"};
  static constexpr void infer(inference& i) {
    dim_id const dim = lookup_attributes::of(i.attributes).dim;
    i.expect(i.dims_of(0).has(dim), "T01 gather: the table lacks the dim", 1, 1);
    i.expect(i.is_integer(1), "T02 gather: the index is not an integer", 2);
    i.expect(!i.dims_of(1).has(dim), "T03 gather: the index has the dim that is looked up: rename it", 2, 1);
    shape const dims = united(i.dims_of(1), without(i.dims_of(0), shape{}.add(dim)));
    bool const reorders = i.dims.includes(dims) && dims.includes(i.dims);
    i.give(i[0].type, reorders ? i.dims : dims);
  }
  // Each rank looks into its own part of the table and gives zeros for the rest: a partial sum.
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    meshtensor::sharding s{};
    dim_id const dim = lookup_attributes::of(n).dim;
    if (static_cast<looks_into>(n.function) == looks_into::whole_table) s.keeps_whole(dim);
    else s.contracted(reduction::sum).looks_up(dim);
    return s.passes_partial(linearity::separate, meshtensor::sharding::kind(reduction::sum), 1);
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const table = d.b.m.operand(n, 0);
    if (!d.differentiable(table)) return;
    d.contribute(table, scatter_add(d.b, d.cotangent(d.b.m.result(n)), d.forward(d.b.m.operand(n, 1)),
                                    lookup_attributes::of(n).dim, d.b.m.values[table].dims));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &table = e.operands[0], &y = e.results[0];
    with_element(y.type, [&]<class E>() {
      detail::each_row(
          table, e.operands[1], y, lookup_attributes::of(e.n).dim,
          [&](bool here, std::int64_t from, std::int64_t to) { y.as<E>()[to] = here ? table.as<E>()[from] : E(0); });
    });
  }
};

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

/// out[i…, rest…] = table[index[i…], rest…] along `dim`; an index out of range gives zeros. Dims that both have are
/// matched by name. `order`: the dims of the result in another order.
constexpr value_id gather(builder& b, value_id table, value_id index, dim_id dim, shape const& order,
                          looks_into where) {
  return add_node<gather_rule>(b, {table, index}, lookup_attributes{dim}.packed(), {dtype::f32, order},
                               static_cast<std::uint8_t>(where));
}
/// out[index[i…], rest…] += x[i…, rest…], into zeros with the dims `like`; an index out of range adds nothing. A dim
/// that only `x` has is summed.
constexpr value_id scatter_add(builder& b, value_id x, value_id index, dim_id dim, shape const& like) {
  return add_node<scatter_add_rule>(b, {x, index}, lookup_attributes{dim}.packed(), {dtype::f32, like});
}

// ---- what users call ----

namespace detail {
constexpr shape with_rule_of(shape const& x, shape const& more) { return united(x, more); }

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
template <dtype T>
consteval auto iota_finding() {
  if constexpr (T != dtype::boolean) return no_error{};
  else return refusal<"T04 iota of bools: choose an integer or a float", dtype_constant<T>>{};
}
template <handle Index, dim_type D>
consteval auto one_hot_finding() {
  if constexpr (!of_integer<Index>) return refusal<"T02 one_hot: the index is not an integer", Index>{};
  else if constexpr (!lacks_dim<Index, D>) return refusal<"T03 one_hot: the index already has the dim", Index, D>{};
  else return no_error{};
}
}  // namespace detail

/// Gathers rows of a table by integers: out[i…, rest…] = table[index[i…], rest…] along `dim`. An index out of range
/// gives zeros. Dims that both have are matched by name: `gather(text, position, length)` looks up in each example of a
/// batch if both have `batch`.
///
/// dims    those of the index, then those of the table without `dim`
/// layout  `dim` sharded over an axis: each processor looks into its part, the result is a partial sum
/// grad    scatter_add of the cotangent
/// errors  T01 the table lacks the dim; T02 the index is not an integer; T03 the index has the dim itself
template <handle Table, handle Index, dim_type D>
constexpr auto gather(Table const& table, Index const& index, D along,
                      detail::rule_line<gather_rule, dims<D>, Table, Index> const& where = {}) {
  return detail::record<gather_rule, D>(
      where, [&](builder& b) { return gather(b, table.id, index.id, detail::dim_of(b, along)); }, table, index);
}

/// Scatter-adds rows into zeros, the transpose of `gather`: out[index[i…], rest…] += x[i…, rest…] along `dim`, as in
/// `scatter_add(x, token, vocab, to(vocab, d_model))`. An index out of range adds nothing; a dim that only `x` has is
/// summed.
///
/// dims    those of `to`
/// layout  a dim of the index sharded over an axis: the result is a partial sum
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

/// Rejects the dims of a result that do not stand in `to(...)`.
template <handle X, class Index, dim_type D, detail::argument A = detail::no_argument,
          detail::argument B = detail::no_argument, detail::argument C = detail::no_argument>
requires(dim_type<A> || std::same_as<A, detail::no_argument>)
constexpr auto scatter_add(X const& x, Index const&, D, A const& = {}, B const& = {}, C const& = {},
                           detail::refused_call<"T10 scatter_add(x, index, along, mt::to(dims of the result)): the "
                                                "dims of the result stand in mt::to(...)",
                                                D, A, B, C> const& = {}) {
  return detail::given_up(x);
}
/// Rejects the dims of the result before the dim that the index counts.
template <handle X, class Index, dim_type... To, dim_type D>
constexpr auto scatter_add(X const& x, Index const&, to_dims<To...>, D,
                           detail::refused_call<"T10 scatter_add(x, index, along, mt::to(dims of the result)): the dim "
                                                "that the index counts comes before mt::to(...)",
                                                D, To...> const& = {}) {
  return detail::given_up(x);
}
/// Rejects arguments of other kinds or in another order.
template <handle X, detail::argument A = detail::no_argument, detail::argument B = detail::no_argument,
          detail::argument C = detail::no_argument>
requires(!handle<A> || !dim_type<B>)
constexpr auto gather(X const& x, A const& = {}, B const& = {}, C const& = {},
                      detail::refused_call<"T10 gather takes a table, a tensor of positions and the dim of the "
                                           "table that they count: gather(table, index, vocab)",
                                           X, A, B, C> const& = {}) {
  return detail::given_up(x);
}
/// Rejects the name that other libraries have for gather.
template <handle X, detail::argument A = detail::no_argument, detail::argument B = detail::no_argument,
          detail::argument C = detail::no_argument>
constexpr auto take(
    X const& x, A const& = {}, B const& = {}, C const& = {},
    detail::refused_call<"T10 the rows of an index are gather(table, index, along), of a dim by its name", X, A, B,
                         C> const& = {}) {
  return detail::given_up(x);
}

/// The positions along a dim, 0, 1, 2, …: `iota(s, length, mt::i32)`.
template <scope S, dim_type D, dtype T>
constexpr tensor<T, D> iota(S const& s, D along, dtype_constant<T>,
                            checked_line<decltype(detail::iota_finding<T>())> const& where = {}) {
  detail::recording r(&s.recorder(), where);
  if constexpr (T == dtype::boolean) r.b.give_up();
  return {&r.b, iota(r.b, detail::dim_of(r.b, along), T)};
}

/// One-hot encoding: 1 at the position `index`, 0 elsewhere, along a new dim: `one_hot(next, vocab, mt::f32)`. An index
/// out of range gives zeros.
///
/// dims    those of the index, then the new one
/// grad    none
/// errors  T02 the index is not an integer; T03 the index has the dim already
template <handle Index, dim_type D, dtype T>
constexpr auto one_hot(Index const& index, D along, dtype_constant<T>,
                       checked_line<decltype(detail::one_hot_finding<Index, D>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::one_hot_finding<Index, D>())>) {
    detail::recording r(index.owner, where);
    constexpr dtype wide = Index::type == dtype::u8 ? dtype::i32 : Index::type;  // positions past 255 exist
    value_id const wanted = cast(r.b, index.id, wide);
    value_id const position = iota(r.b, detail::dim_of(r.b, along), wide);
    value_id const v = cast(r.b, elementwise(r.b, function::equal, wanted, position), T);
    return detail::wrap<T, result_dims_t<detail::with_rule_of, typename Index::dim_list, dims<D>>>(r.b, v);
  } else {
    return detail::given_up<T, typename Index::dim_list>(index);
  }
}
/// Rejects a call without the dtype, or with a size in the place of a dim.
template <handle Index, detail::argument A = detail::no_argument, detail::argument B = detail::no_argument>
requires(!dim_type<A> || !detail::is_dtype<B>)
constexpr auto one_hot(Index const& index, A const& = {}, B const& = {},
                       detail::refused_call<"T10 one_hot takes the new dim, then the dtype of its result: "
                                            "one_hot(index, vocab, mt::f32)",
                                            Index, A, B> const& = {}) {
  return detail::given_up<dtype::f32, typename Index::dim_list>(index);
}

}  // namespace meshtensor
