// SPDX-License-Identifier: Apache-2.0
// Chooses the role of one mesh axis in an operation: the dim that it shards, or whether the result is partial over it.
#pragma once

#include "meshtensor/pass/partition/partitioning.hpp"

namespace meshtensor::detail {

/// The placements that an operation's operands need, and the placement that its result then has.
struct operation_placements {
  node const& n;
  sharding rule;
  shape result_dims;
  placement operands[inference::most_operands];  // as many as a declaration may allow
  placement result;
};

/// The dim of an operand that an axis shards, with the name that it has in the result.
constexpr int sharded_dim(module const& from, operation_placements const& at, int operand, int axis) {
  return at.rule.name_in_result(operand,
                                from.operand_value(at.n, operand).dims.at[at.operands[operand].sharded_at(axis)]);
}

/// Whether each rank along an axis sums its rows into the groups that it holds, as the layout implies.
constexpr bool gives_groups(partitioning& p, operation_placements const& at, int rows, int axis) {
  int const position = at.rule.looks ? at.result_dims.find(at.rule.looked_up) : -1;
  if (position < 0) return false;
  placement const wanted = p.layout.settled(at.result_dims, at.n.path, shape{});
  return wanted.sharded_at(axis) == position && divides_as_rows(p.m, at.rule, rows, at.rule.looked_up, axis, wanted);
}

/// Handles an axis that shards no operand. A partial operand may stay partial if the operation is linear in it.
constexpr void keep_partial(partitioning const& p, operation_placements& at, int axis) {
  node const& n = at.n;
  int partials = 0, first = -1;
  reduction kind = reduction::none;
  bool of_one_kind = true;
  for (int i = 0; i < n.operands.count; ++i) {
    value_id const best = p.copies.cheapest_copy(p.from.operand(n, i), at.operands[i]);
    reduction const part = p.m.values[best].layout.part(axis);
    if (part == reduction::none) continue;
    if (p.reduced.of[p.from.operand(n, i)]) return;
    if (partials++ == 0) first = i, kind = part;
    of_one_kind = of_one_kind && part == kind;
  }
  if (partials == 0) return;
  // A partial operand is reduced before an operation that makes it larger.
  bool const keeps_elements = declared(p.from, n).buffer == buffer_use::shared;
  if (!keeps_elements && !p.from.operand_value(n, first).dims.includes(at.result_dims)) return;
  linearity const how = at.rule.linear(first, kind);
  if (how == linearity::joint) {
    if (!of_one_kind || partials != n.operands.count) return;
    for (int i = 0; i < n.operands.count; ++i) at.operands[i].set_part(axis, kind);
    at.result.set_part(axis, kind);
  } else if (how == linearity::separate) {
    at.operands[first].set_part(axis, kind);
    at.result.set_part(axis, kind);
  }
}

/// Sets the role of `axis` in the placements of an operation.
constexpr void place_axis(partitioning& p, operation_placements& at, int axis) {
  node const& n = at.n;
  int dim = -1, first = -1;  // the dim that the axis shards, and the first operand with it
  for (int i = 0; i < n.operands.count; ++i) {
    if (!at.operands[i].shards(axis)) continue;
    int const other = sharded_dim(p.from, at, i, axis);
    if (dim >= 0 && dim != other && divides_as_rows(p.m, at.rule, dim, other, axis, at.operands[i])) continue;
    if (dim >= 0 && dim != other && i > 0 && divides_as_rows(p.m, at.rule, other, dim, axis, at.operands[first])) {
      dim = other;
      continue;
    }
    if (dim >= 0 && dim != other) {
      p.meet(n, axis, dim, other);
      // The dim whose rule comes first keeps the axis. If both dims are in one operand, that dim has the axis already.
      int const kept = p.layout.rule_for(other, n.path) < p.layout.rule_for(dim, n.path) ? other : dim;
      for (int k = 0; k <= i; ++k)
        if (at.operands[k].shards(axis) && sharded_dim(p.from, at, k, axis) != kept) at.operands[k].leave(axis);
      dim = kept;
      continue;
    }
    dim = other, first = i;
  }
  if (dim < 0) return keep_partial(p, at, axis);
  for (int i = 0; i < n.operands.count && at.rule.windowed_count != 0; ++i) {
    int const place = p.from.operand_value(n, i).dims.find(dim);
    if (place >= 0 && at.rule.window_over(i, dim) == nullptr && !at.operands[i].shards(axis))
      at.operands[i].shard(place, axis);
  }
  int const position = at.result_dims.find(dim);
  if (position >= 0) at.result.shard(position, axis, 0);
  else if (gives_groups(p, at, dim, axis)) at.result.shard(at.result_dims.find(at.rule.looked_up), axis, 0);
  else at.result.set_part(axis, at.rule.contracts);
}

}  // namespace meshtensor::detail
