// SPDX-License-Identifier: Apache-2.0
// Moves collectives over a loop's stacked results into the loop: one for each slice, as soon as it is computed.
// before: partitioned.  after: the gradients of a layer are sent while those of the next one are computed, and a loop
// stacks reduced values instead of partial sums.
// why: after the loop, all of them would be waited for at once.
#pragma once

#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {
namespace detail {

struct collective_slicer {
  meshtensor::module const& from;
  rebuild w;
  std::uint8_t uses[max_values];
  id of_slice[max_values];  // of a slice that a body returns: the collective after the loop that moves to it, plus 1
  bool moved[max_nodes];

  constexpr collective_slicer(module const& source, module& target)
      : from(source), w(source, target), uses{}, of_slice{}, moved{} {
    count_uses();
    for (int i = 0; i < from.node_count; ++i)
      if (value_id const slice = slice_for(from.nodes[i]); slice != no_id)
        of_slice[slice] = static_cast<id>(i + 1), moved[i] = true;
    for (int i = 0; i < from.node_count && w.m.report.empty(); ++i) {
      node const& n = from.nodes[i];
      if (moved[i]) {
        stands_for(n);
      } else {
        w.copy(n);
        for (int k = 0; k < n.results.count; ++k)
          if (of_slice[from.result(n, k)] != 0) begin(from.result(n, k));
      }
    }
  }

 private:
  constexpr void use(value_id v) { uses[v] = static_cast<std::uint8_t>(uses[v] < 2 ? uses[v] + 1 : 2); }
  constexpr void count_uses() {
    for (int i = 0; i < from.node_count; ++i)
      for (int k = 0; k < from.nodes[i].operands.count; ++k) use(from.operand(from.nodes[i], k));
    for (int r = 0; r < from.region_count; ++r)
      for (int k = 0; k < from.regions[r].results.count; ++k) use(from.link(from.regions[r].results, k));
  }

  /// Whether a loop runs over slices of variables: over layers, which are few and large, not over positions of a
  /// sequence.
  constexpr bool goes_over_layers(node const& owner) const {
    loop const l = loop::of(owner);
    for (int k = l.carries; k < l.carries + l.stacked; ++k) {
      node const* n = &from.nodes[from.operand_value(owner, k).node];
      while (n->operands.count == 1 && n->regions.count == 0) n = &from.nodes[from.operand_value(*n, 0).node];
      if (n->kind == primitive::read) return true;
    }
    return false;
  }

  /// The factor that a number scales: g of `g * rate`. It has the product's placement, even if that is partial:
  /// partition reshards operands to it, and reduces a number before it multiplies a larger value.
  constexpr value_id scaled_by_number(value_id v) const {
    node const& n = from.nodes[from.values[v].node];
    if (!applies(n, function::multiply)) return no_id;
    for (int k = 0; k < 2; ++k)
      if (from.operand_value(n, 1 - k).dims.count == 0) return from.operand(n, k);
    return no_id;
  }
  /// The operand of a collective if numbers scaled only its result; every value in between is used once.
  constexpr value_id unscaled(node const& n) const {
    value_id v = from.operand(n, 0);
    for (value_id x = v; uses[v] == 1 && (x = scaled_by_number(v)) != no_id;) v = x;
    return v;
  }

  /// The slice to which a collective can move: a loop stacks its operand, perhaps scaled, and none of these values has
  /// another use. Slices of one dim stay stacked and are sent as one.
  constexpr value_id slice_for(node const& n) const {
    if (n.kind != primitive::all_reduce && n.kind != primitive::reduce_scatter) return no_id;
    value_id const stack = unscaled(n);
    value const& whole = from.values[stack];
    node const& owner = from.nodes[whole.node];
    if (owner.kind != primitive::repeat || uses[stack] != 1) return no_id;
    loop const l = loop::of(owner);
    if (whole.index < l.carries + l.sums || !goes_over_layers(owner)) return no_id;
    if (n.kind == primitive::reduce_scatter && collective_attributes::of(n).split == l.dim) return no_id;
    region_id const body = from.region_of(owner, 0);
    value_id const slice = from.link(from.regions[body].results, whole.index);
    node const& maker = from.nodes[from.values[slice].node];
    bool const fits = uses[slice] == 1 && maker.kind != primitive::argument && from.values[slice].dims.count >= 2;
    return fits ? slice : no_id;
  }

  constexpr void begin(value_id slice) {
    node const& c = from.nodes[of_slice[slice] - 1];
    value_id const operand = w[slice];
    value const v = w.m.values[operand];
    value_id const made = w.b.add_again(c, v, ids(&operand, 1));
    w.m.values[made].layout = of_dims(from.result_value(c), v.dims);
    w.replace(slice, made);
  }
  constexpr void stands_for(node const& c) {
    value_id const stack = unscaled(c);
    for (value_id v = from.operand(c, 0);; v = scaled_by_number(v)) {
      value& reduced = w.m.values[w[v]];
      reduced.layout = of_dims(from.result_value(c), reduced.dims);
      if (v == stack) break;
    }
    w.replace(from.result(c), w[from.operand(c, 0)]);
  }
  /// The placement of `v`, for a tensor of these dims.
  static constexpr placement of_dims(value const& v, shape const& dims) {
    placement p = v.layout;
    for (int a = 0; a < max_axes; ++a)
      if (p.shards(a)) p.shard(dims.find(v.dims.at[p.sharded_at(a)]), a, p.order(a));
    return p;
  }
};

}  // namespace detail

/// The module with these collectives moved into loops.
constexpr module slice_collectives(module const& m) {
  meshtensor::module result{};
  if (!m.report.empty()) result.report = m.report;
  else detail::collective_slicer(m, result);
  return result;
}

}  // namespace meshtensor
