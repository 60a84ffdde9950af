// SPDX-License-Identifier: Apache-2.0
// Adds an operation to the program of one rank, by its own `partition` or by its sharding rule.
#pragma once

#include "meshtensor/pass/list_reshape.hpp"
#include "meshtensor/pass/partition/halos_of_operands.hpp"

namespace meshtensor::detail {

/// Gives the axes of a result's dims the same order as in the operands.
constexpr void order_axes(partitioning const& p, operation_placements& at) {
  for (int i = 0; i < at.n.operands.count; ++i)
    for (int a = 0; a < p.m.axis_count; ++a) {
      if (!at.operands[i].shards(a) || !at.result.shards(a)) continue;
      if (at.result_dims.find(sharded_dim(p.from, at, i, a)) == at.result.sharded_at(a))
        at.result.set_order(a, at.operands[i].order(a));
    }
}

/// Orders the axes of groups that hold rows as the exchange has them, because the exchange has cut the groups.
constexpr void order_groups(module const& m, operation_placements& at) {
  int const position = at.rule.looks ? at.result_dims.find(at.rule.looked_up) : -1;
  if (position < 0 || at.result.axes_of(position) == 0) return;
  for (int d = 0; d < m.dim_count; ++d) {
    if (m.dims[d].kind != dim_row::holders || m.dims[d].first != at.rule.looked_up) continue;
    placement const& exchange = row_holders::unpacked(m.dims[d].value).group_axes;
    for (int a = 0; a < max_axes; ++a)
      if (at.result.sharded_at(a) == position && exchange.shards(a)) at.result.set_order(a, exchange.order(a));
  }
}

/// Whether a dim of the result is a dim of an operand, perhaps under another name, over which no window moves.
constexpr bool has_operand_with(module const& from, operation_placements const& at, int dim) {
  for (int i = 0; i < at.n.operands.count; ++i) {
    shape const& dims = from.operand_value(at.n, i).dims;
    for (int k = 0; k < dims.count; ++k)
      if (at.rule.window_over(i, dims.at[k]) == nullptr && at.rule.name_in_result(i, dims.at[k]) == dim) return true;
  }
  return false;
}

/// Shards the dims that only the result has, as the layout implies, over axes that are still free.
constexpr void shard_new_dims(partitioning& p, operation_placements& at) {
  placement const wanted = p.layout.of(at.result_dims, at.n.path, shape{}, nullptr);
  for (int position = 0; position < at.result_dims.count; ++position) {
    int const dim = at.result_dims.at[position];
    if (wanted.axes_of(position) == 0 || has_operand_with(p.from, at, dim) || at.rule.needs_whole(dim)) continue;
    for (int o = 0, a = 0; (a = wanted.axis_at(position, o)) >= 0; ++o) {
      if (at.result.shards(a) || at.result.is_partial(a)) break;
      at.result.shard(position, a);
    }
  }
}

/// Sets the placements that the layout implies for the operands. Dims that the operation needs whole are not sharded.
constexpr void imply_operands(partitioning& p, operation_placements& at) {
  int const of_loops = p.between_loops.of[p.from.result(at.n)];
  for (int i = 0; i < at.n.operands.count; ++i) {
    shape const& dims = p.from.operand_value(at.n, i).dims;
    shape whole{};
    for (int k = 0; k < dims.count; ++k) {
      bool const lost =
          at.rule.contracts == reduction::none && !at.result_dims.has(at.rule.name_in_result(i, dims.at[k]));
      if (lost || k < of_loops || at.rule.needs_whole(dims.at[k])) whole.add(dims.at[k]);
    }
    at.operands[i] = p.implied(p.from.operand(at.n, i), at.n, whole);
  }
}

constexpr void partition_by_sharding(partitioning& p, node const& n) {
  int const count = n.operands.count;
  operation_placements at{n, sharding_of(p.from, n), p.from.result_value(n).dims, {}, {}};
  imply_operands(p, at);
  for (int a = 0; a < p.m.axis_count && p.report.empty(); ++a) place_axis(p, at, a);
  if (!p.report.empty()) return;
  order_axes(p, at);
  order_groups(p.m, at);
  shard_new_dims(p, at);
  id_list<> operands{};
  for (int i = 0; i < count; ++i) operands.add(p.copies.copy_at(p.from.operand(n, i), at.operands[i]));
  attributes const a = widen_by_halos(p, at, operands);
  node_id const made = p.make(n, operands);
  set_attributes(p.m.nodes[made], a);
  p.give(made, p.from.result(n), at.result);
}

constexpr void partition_operation(partitioning& p, node const& n) {
  bool const has_own_way = with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::partition(p, n); }) return R::partition(p, n);
    else return false;
  });
  if (has_own_way) list_reshape(p.m, p.from, n, true);
  else partition_by_sharding(p, n);
}

}  // namespace meshtensor::detail
