// SPDX-License-Identifier: Apache-2.0
// The steps of an exchange of rows on a mesh: on which ranks rows are, and which ranks send rows to each other.
#pragma once

#include "meshtensor/op/detail/all_to_all_rows_rule.hpp"

namespace meshtensor {
namespace detail {

struct exchange_on_mesh {
  static constexpr row_holders holders_of(auto& p, node const& n) {
    return row_holders::unpacked(p.m.dims[all_to_all_rows_attributes::of(n).holders].value);
  }
  /// The placement of a tensor [holders, …], in which each rank has its own rows or counts.
  static constexpr placement on_holders(row_holders const& of) {
    placement at{};
    return of.shard(at, 0);
  }
  /// The axes that shard the index shard the rows, too. Rows are exchanged along the major axes of the groups, as far
  /// as these axes shard the index.
  static constexpr void count(auto& p, node const& n) {
    auto const a = all_to_all_rows_attributes::of(n);
    placement const at = p.implied_of(n, 0);
    row_holders of{};
    for (int axis = 0; axis < max_axes; ++axis)
      if (at.shards(axis)) of.axes |= 1u << axis;
    placement const groups = p.settle(shape{}.add(a.groups), n.path, shape{}, &n);
    for (int o = 0, axis = 0; (axis = groups.axis_at(0, o)) >= 0 && (of.axes >> axis & 1u) != 0; ++o)
      of.group_axes.shard(0, axis);
    std::int64_t& known = p.m.dims[a.holders].value;
    if (known != 0 && known != of.packed()) return p.refuse_two_exchanges(n, a.groups);
    known = of.packed();
    value_id const index = p.placed_operand(n, 0, at);
    p.gives(n, p.placed(all_to_all_rows_rule::add_step(p.b, row_step::count, {index}, a), on_holders(of)));
  }
  /// The counts of all ranks that exchange rows with each other. One all_gather serves all steps of an exchange.
  static constexpr value_id table_of(auto& p, node const& n, row_holders const& of) {
    placement all = on_holders(of);
    for (int axis = 0; axis < max_axes; ++axis)
      if (of.group_axes.shards(axis)) all.unshard(axis);
    return p.placed_operand(n, n.operands.count - 1, all);
  }
  static constexpr void number(auto& p, node const& n) {
    row_holders const of = holders_of(p, n);
    value_id const table = table_of(p, n, of);
    placement mine = p.m.values[table].layout;
    for (int o = 0, axis = 0; (axis = of.group_axes.axis_at(0, o)) >= 0; ++o) mine.shard(1, axis);
    value_id const counts = p.resharded(table, mine);
    p.gives(n,
            p.placed(all_to_all_rows_rule::add_step(p.b, row_step::number, {counts}, all_to_all_rows_attributes::of(n)),
                     on_holders(of)));
  }
  /// The operand, placed for the exchange. It stays a partial sum over each axis over which it may be one.
  static constexpr value_id operand_on_mesh(auto& p, node const& n) {
    placement at = p.implied_of(n, 0);
    placement const index_at = p.implied_of(n, 1);
    shape const &dims = p.from.operand_value(n, 0).dims, &of_index = p.from.operand_value(n, 1).dims;
    for (int axis = 0; axis < max_axes; ++axis) {
      if (!index_at.shards(axis)) p.keep_partial_sum(n, 0, axis, at);
      if (!index_at.shards(axis) || all_to_all_rows_rule::step_of(n) == row_step::back) continue;
      int const dim = of_index.at[index_at.sharded_at(axis)];  // the axes of the index shard no dim of a row
      if (at.shards(axis) && dims.at[at.sharded_at(axis)] != dim) {
        p.meet(n, axis, dim, dims.at[at.sharded_at(axis)]);
        at.leave(axis);
      }
      if (dims.has(dim)) at.shard(dims.find(dim), axis, index_at.order(axis));
    }
    return p.placed_operand(n, 0, at);
  }
  static constexpr value_id moved(auto& p, node const& n, value_id x, dim_id from, dim_id to, bool back) {
    row_holders const of = holders_of(p, n);
    value_id const table = table_of(p, n, of);
    auto const a = all_to_all_rows_attributes::of(n);
    value const v = p.m.values[x];
    value_id const operands[] = {x, table};
    move_rows_attributes const move{of.group_mask(), from,      to,
                                    a.counted,       a.holders, back ? row_move::back : row_move::to_holders};
    return p.placed(
        p.b.add(primitive::move_rows, move.function(), operands, v.type, replaced(v.dims, from, to), move.packed()),
        v.layout);
  }
  /// Gives the dims of a row in `dims` the placements that they have in `from`. `others` are the dims of `from` that
  /// are not of a row.
  static constexpr placement with_rest(placement at, shape const& dims, value const& from, shape const& others) {
    for (int axis = 0; axis < max_axes; ++axis) {
      if (from.layout.is_partial(axis)) at.set_part(axis, from.layout.part(axis));
      if (!from.layout.shards(axis)) continue;
      int const dim = from.dims.at[from.layout.sharded_at(axis)];
      if (!others.has(dim)) at.shard(dims.find(dim), axis, from.layout.order(axis));
    }
    return at;
  }
  static constexpr void send(auto& p, node const& n) {
    row_holders const of = holders_of(p, n);
    auto a = all_to_all_rows_attributes::of(n);
    dim_id const room = a.rows;
    value_id const x = operand_on_mesh(p, n), index = p.placed_operand(n, 1, p.implied_of(n, 1)),
                   counts = p.placed_operand(n, 2, on_holders(of));
    if (of.group_mask() != 0) a.rows = p.dim_of_sent(room);
    value_id made = all_to_all_rows_rule::add_step(p.b, row_step::send, {x, index, counts}, a);
    p.placed(made, with_rest(on_holders(of), p.m.values[made].dims, p.m.values[x], p.m.values[index].dims));
    if (of.group_mask() != 0) made = moved(p, n, made, a.rows, room, false);
    p.gives(n, made);
  }
  static constexpr void back(auto& p, node const& n) {
    row_holders const of = holders_of(p, n);
    auto a = all_to_all_rows_attributes::of(n);
    dim_id const room = a.rows;
    value_id rows = operand_on_mesh(p, n);
    value_id const index = p.placed_operand(n, 1, p.implied_of(n, 1)), counts = p.placed_operand(n, 2, on_holders(of));
    if (of.group_mask() != 0) a.rows = p.dim_of_sent(room), rows = moved(p, n, rows, room, a.rows, true);
    value_id const made = all_to_all_rows_rule::add_step(p.b, row_step::back, {rows, index, counts}, a);
    shape const others = shape{}.add(a.holders).add(a.rows);
    p.gives(n, p.placed(made, with_rest(p.m.values[index].layout, p.m.values[made].dims, p.m.values[rows], others)));
  }
};

}  // namespace detail

constexpr bool all_to_all_rows_rule::partition(auto& p, node const& n) {
  using on_mesh = detail::exchange_on_mesh;
  switch (step_of(n)) {
    case row_step::count: on_mesh::count(p, n); break;
    case row_step::number: on_mesh::number(p, n); break;
    case row_step::send: on_mesh::send(p, n); break;
    case row_step::back: on_mesh::back(p, n); break;
  }
  return true;
}

}  // namespace meshtensor
