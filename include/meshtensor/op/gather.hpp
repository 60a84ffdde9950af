// SPDX-License-Identifier: Apache-2.0
// gather: takes the rows of a table at the positions of an index.
#pragma once

#include "meshtensor/op/detail/lookup.hpp"

namespace meshtensor {

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
  // Each rank looks into its own part of the table and gives zeros for the rest, so the result is a partial sum.
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

/// out[i…, rest…] = table[index[i…], rest…] along `dim`. An index out of range gives zeros. Dims that both have are
/// matched by name. `order` lists the dims of the result if they are to come in another order.
constexpr value_id gather(builder& b, value_id table, value_id index, dim_id dim, shape const& order,
                          looks_into where) {
  return add_node<gather_rule>(b, {table, index}, lookup_attributes{dim}.packed(), {dtype::f32, order},
                               static_cast<std::uint8_t>(where));
}

// ---- public functions ----

/// Gathers rows of a table by integers: out[i…, rest…] = table[index[i…], rest…] along `dim`. An index out of range
/// gives zeros. Dims that both have are matched by name. For example, `gather(text, position, length)` looks up in each
/// example of a batch if both have `batch`.
///
/// dims    those of the index, then those of the table without `dim`
/// layout  if `dim` is sharded over an axis, each rank looks into its part, and the result is a partial sum
/// grad    scatter_add of the cotangent
/// errors  T01 the table lacks the dim; T02 the index is not an integer; T03 the index has the dim itself
template <handle Table, handle Index, dim_type D>
constexpr auto gather(Table const& table, Index const& index, D along,
                      detail::rule_line<gather_rule, dims<D>, Table, Index> const& where = {}) {
  return detail::record<gather_rule, D>(
      where, [&](builder& b) { return gather(b, table.id, index.id, detail::dim_of(b, along)); }, table, index);
}

/// Rejects arguments of other kinds or in another order.
template <handle X, detail::argument A = detail::none_given, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given>
requires(!handle<A> || !dim_type<B>)
constexpr auto gather(X const& x, A const& = {}, B const& = {}, C const& = {},
                      detail::refused_call_with<detail::code_if<handle<A>, "T25", "T37">,
                                                "gather takes a table, a tensor of positions and the dim of the "
                                                "table that they count: gather(table, index, vocab)",
                                                X, A, B, C> const& = {}) {
  return detail::given_up(x);
}
/// Rejects the name that other libraries have for gather.
template <handle X, detail::argument A = detail::none_given, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given>
constexpr auto take(
    X const& x, A const& = {}, B const& = {}, C const& = {},
    detail::refused_call<"T35 the rows of an index are gather(table, index, along), of a dim by its name", X, A, B,
                         C> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor

#include "meshtensor/op/scatter_add.hpp"
