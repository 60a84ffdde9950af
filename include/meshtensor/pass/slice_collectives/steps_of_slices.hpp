// SPDX-License-Identifier: Apache-2.0
// Finds steps that compute each slice of a stack from the same slice of another stack, and moves them into the loop
// that makes the stack. For example, a mean over replicas is a transpose, a sum and a division between a gradient and
// its all_reduce.
#pragma once

#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor::detail {

/// The placement of `v` for a tensor with these dims, which is `v` itself or a slice of it.
constexpr placement placement_of_dims(value const& v, shape const& dims) {
  placement p = v.layout;
  for (int a = 0; a < max_axes; ++a) {
    if (!p.shards(a)) continue;
    int const at = dims.find(v.dims.at[p.sharded_at(a)]);
    p.shard(at < 0 ? placement::of_loop : at, a, p.order(a));
  }
  return p;
}

struct steps_of_slices {
  meshtensor::module const& from;
  id const* uses;  // of each value

  constexpr node const& maker(value_id v) const { return from.nodes[from.values[v].node]; }
  constexpr bool is_step(node const& n) const { return operand_of(n) != no_id; }
  /// The stack from which steps lead to `v`, if every value in between is used once. Without steps it is `v`.
  constexpr value_id stack_of(value_id v) const {
    for (value_id x = v; uses[v] == 1 && (x = operand_of(maker(v))) != no_id;) v = x;
    return v;
  }
  /// Calls `visit` with the nodes of the steps from `stack` to `last`, the last one first.
  constexpr void each(value_id last, value_id stack, auto visit) const {
    for (value_id v = last; v != stack; v = from.operand(maker(v), 0)) visit(from.values[v].node);
  }
  /// Whether the steps from `stack` to `last` keep the loop's dim, which no axis shards, and whether `last` has it in
  /// front of the dims of a matrix.
  constexpr bool may_move(value_id last, value_id stack, dim_id loop_dim) const {
    shape const& dims = from.values[last].dims;
    if (dims.count < 3 || dims.at[0] != loop_dim) return false;
    for (value_id v = last;; v = from.operand(maker(v), 0)) {
      value const& x = from.values[v];
      int const at = x.dims.find(loop_dim);
      for (int a = 0; a < max_axes; ++a)
        if (at < 0 || (x.layout.shards(a) && x.layout.sharded_at(a) == at)) return false;
      if (v == stack) return true;
    }
  }
  /// Adds the steps to the loop's body, and returns the slice of `last`. `slice` is the new id of the stack's slice.
  constexpr value_id add(rebuild& w, value_id last, value_id stack, value_id slice) const {
    if (last == stack) return slice;
    node const& n = maker(last);
    value sliced = from.values[last];
    sliced.dims = without(sliced.dims, shape{}.add(from.values[stack].dims.at[0]));
    value_id operands[2] = {add(w, from.operand(n, 0), stack, slice), no_id};
    if (n.kind == primitive::transpose && w.m.values[operands[0]].dims == sliced.dims) return operands[0];
    if (n.operands.count == 2) operands[1] = w.b.add_again(maker(from.operand(n, 1)), from.operand_value(n, 1), {});
    value_id const made = w.b.add_again(n, sliced, ids(operands, static_cast<std::size_t>(n.operands.count)));
    w.m.values[made].layout = placement_of_dims(from.values[last], sliced.dims);
    return made;
  }

 private:
  /// The operand of a step, or no_id. Steps are transposes, reductions, and products and quotients with a constant.
  constexpr value_id operand_of(node const& n) const {
    bool const scales = applies(n, function::multiply) || applies(n, function::divide);
    if (n.kind != primitive::transpose && n.kind != primitive::reduce && !scales) return no_id;
    if (scales && maker(from.operand(n, 1)).kind != primitive::constant) return no_id;
    return from.operand(n, 0);
  }
};

}  // namespace meshtensor::detail
