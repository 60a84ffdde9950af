// SPDX-License-Identifier: Apache-2.0
// permute: takes the rows of a tensor along a dim in another order. Along a sharded dim, each rank sends its rows only
// to the ranks that need them.
#pragma once

#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/scatter_add.hpp"

namespace meshtensor {

/// The dim along which rows change their positions. Operand 1 has one dim of the same extent, which no layout needs to
/// shard, because every rank has all sources.
struct permute_attributes {
  dim_id dim;

  static constexpr permute_attributes of(id const* slots) { return {static_cast<dim_id>(slots[0])}; }
  static constexpr permute_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim}}; }
};

constexpr value_id permute(builder& b, value_id x, value_id sources, dim_id dim);

struct permute_rule {
  static constexpr primitive kind = primitive::permute;
  static constexpr declaration declares{.operands = {2, 2}, .attributes = {{attribute_kind::dim}}, .text = "along {0}"};

  static constexpr void infer(inference& i) {
    dim_id const dim = permute_attributes::of(i.attributes).dim;
    i.expect(i.dims_of(0).has(dim), "T01 permute: the operand lacks the dim", 1, 1);
    i.expect(i.is_integer(1), "T02 permute: the sources are not integers", 2);
    i.expect(i.dims_of(1).count == 1, "T03 permute: the sources have one dim, that of the rows", 2);
    i.give(i[0].type, i.dims_of(0));
  }
  static constexpr char const* verify(module const& m, node const& n) {
    return m.operand_value(n, 1).dims.has(permute_attributes::of(n).dim)
               ? "the sources of a permute have the dim of its rows"
               : nullptr;
  }
  static constexpr same_elements elements(module const& m, node const& n) {
    return {shape{}.add(permute_attributes::of(n).dim), m.operand_value(n, 1).dims, false, "permuted by"};
  }
  static constexpr meshtensor::sharding sharding(module const& m, node const& n) {
    return meshtensor::sharding{}
        .keeps_whole(permute_attributes::of(n).dim)
        .keeps_whole(m.operand_value(n, 1).dims)
        .passes_partial(linearity::separate, meshtensor::sharding::kind(reduction::sum), 1);
  }
  /// If the dim is sharded, the ranks along its axes exchange rows. All of them have the same sources.
  static constexpr bool partition(auto& p, node const& n) {
    placement at = p.implied_of(n, 0);
    dim_id const dim = permute_attributes::of(n).dim;
    int const along = p.from.operand_value(n, 0).dims.find(dim);
    if (at.axes_of(along) == 0) return false;
    move_rows_attributes a{0, dim, dim, dim_id{p.from.operand_value(n, 1).dims.at[0]}, dim, row_move::by_sources};
    for (int axis = 0; axis < max_axes; ++axis) {
      if (at.sharded_at(axis) == along) a.axes |= 1u << axis;
      else p.keep_partial_sum(n, 0, axis, at);
    }
    value_id const operands[] = {p.placed_operand(n, 0, at), p.placed_operand(n, 1, placement{})};
    value const& x = p.m.values[operands[0]];
    p.gives(n, p.placed(p.b.add(primitive::move_rows, a.function(), operands, x.type, x.dims, a.packed()), at));
    return true;
  }
  /// The rows of the cotangent, added at their sources.
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const x = d.b.m.operand(n, 0);
    if (!d.differentiable(x)) return;
    dim_id const dim = permute_attributes::of(n).dim;
    value_id const sources = d.forward(d.b.m.operand(n, 1));
    value_id const rows =
        rename(d.b, d.cotangent(d.b.m.result(n)), dim, static_cast<dim_id>(d.b.m.values[sources].dims.at[0]));
    d.contribute(x, scatter_add(d.b, rows, sources, dim, d.b.m.values[x].dims));
  }

  /// The rows of a result with the dim of the sources in the place of their own: those of a gather.
  static view as_gathered(node const& n, view const& sources, view rows) {
    rows.dim[rows.find(permute_attributes::of(n).dim)] = sources.dim[0];
    return rows;
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], y = as_gathered(e.n, e.operands[1], e.results[0]);
    with_element(y.type, [&]<class E>() {
      detail::each_row(
          x, e.operands[1], y, permute_attributes::of(e.n).dim,
          [&](bool here, std::int64_t from, std::int64_t to) { y.as<E>()[to] = here ? x.as<E>()[from] : E(0); });
    });
  }
};

/// Row i of the result along `dim` is row sources[i] of `x`, or zeros if there is no such row. The dim of `sources` is
/// another one than `dim`.
constexpr value_id permute(builder& b, value_id x, value_id sources, dim_id dim) {
  return add_node<permute_rule>(b, {x, sources}, permute_attributes{dim}.packed());
}

// ---- public functions ----

/// Takes the rows of `x` along a dim in another order: row i of the result is row `sources[i]` of `x`. For example, the
/// sources n - 1, 0, 1, … roll the rows by one. Several rows may have one source. If there is no such row in `x`, for
/// example row -1, the row of the result is zero. The sources may be computed in each step.
///
/// dims    those of `x`. The sources have one dim, `along` or another one of its extent
/// layout  along a sharded dim, each rank sends only rows that other ranks need, one message to each of them. All ranks
///         need all sources, so sources that are sharded are gathered first
/// grad    the rows of the cotangent, added at their sources
/// errors  T01 `x` lacks the dim; T02 the sources are not integers; T03 the sources do not have one dim
template <handle X, dim_type D, handle Sources>
constexpr auto permute(X const& x, D along, Sources const& sources,
                       detail::rule_line<permute_rule, dims<D>, X, Sources> const& where = {}) {
  return detail::record<permute_rule, D>(
      where,
      [&](builder& b) {
        dim_id const dim = detail::dim_of(b, along);
        bool const is_own = b.m.values[sources.id].dims.has(dim);
        return permute(b, x.id, is_own ? rename(b, sources.id, dim, b.dim_like(dim)) : sources.id, dim);
      },
      x, sources);
}

}  // namespace meshtensor
