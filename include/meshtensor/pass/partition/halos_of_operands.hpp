// SPDX-License-Identifier: Apache-2.0
// Widens an operation's operands along sharded dims by the halos that its windows reach. pass/bind/parts.hpp computes
// how long the halos are.
#pragma once

#include "meshtensor/pass/partition/place_axis.hpp"

namespace meshtensor::detail {

/// The dim for the part of `of` that windows reach from the parts of another dim.
constexpr dim_id halo_dim(partitioning& p, dim_id of, dim_id parts, packed_halo const& how) {
  for (int d = p.from.dim_count; d < p.m.dim_count; ++d)
    if (p.m.dims[d].kind == dim_row::halo && p.m.dims[d].first == of && p.m.dims[d].second == parts &&
        p.m.dims[d].value == how.packed())
      return static_cast<dim_id>(d);
  return p.b.add_dim({dim_row::halo, p.b.own_label(of, "halo"), of, parts, how.packed()});
}
/// A value with the wider dim in the place of `of`. One exchange makes it, and all users share this exchange.
constexpr value_id covered(partitioning& p, value_id v, dim_id of, dim_id wider, placement const& parts) {
  value const x = p.m.values[v];
  int const place = x.dims.find(of);
  placement to = x.layout;
  for (int a = 0; a < max_axes; ++a)
    if (to.sharded_at(a) == place) to.unshard(a);
  for (int o = 0, a = 0; (a = parts.axis_at(0, o)) >= 0; ++o) to.shard(place, a);
  for (int i = p.m.node_count; i-- > 0;) {
    node const& made = p.m.nodes[i];
    if (made.kind == primitive::move && p.m.operand(made, 0) == v && move_attributes::of(made).to == wider &&
        p.m.result_value(made).layout == to)
      return p.m.result(made);
  }
  region_id const here = p.b.region;
  p.b.region = x.region;
  value_id const made = add_move(p.b, v, {of, wider, no_id, no_id, 0, shift_kind::cut}, to);
  p.b.region = here;
  return made;
}

/// Widens operands along each sharded dim over which a window moves, by the part that the window reaches. Returns the
/// attributes of the node, in which the windows move over the wider dims.
constexpr attributes widen_by_halos(partitioning& p, operation_placements const& at, id_list<>& operands) {
  attributes all = attributes_of(at.n);
  sharding const& rule = at.rule;
  if (rule.windowed_count == 0) return all;
  window_row rows[max_windows_of_one] = {};
  for (int k = 0; k < rule.windowed_count; ++k) {
    windowed_dim const& w = rule.windowed[k];
    rows[k] = p.m.windows[w.window];
    value const& x = p.m.values[operands.at[0]];
    if (x.layout.axes_of(x.dims.find(w.covered)) == 0) continue;
    placement parts{};  // of the other dim, as the placement of a value with one dim
    int const in_result = at.result_dims.find(w.parts);
    placement const& holds = in_result >= 0 ? at.result : at.operands[1];
    int const place = in_result >= 0 ? in_result : p.from.operand_value(at.n, 1).dims.find(w.parts);
    for (int o = 0, axis = 0; (axis = holds.axis_at(place, o)) >= 0; ++o) parts.shard(0, axis);
    auto const of = static_cast<dim_id>(w.covered);
    dim_id const wider = halo_dim(p, of, static_cast<dim_id>(w.parts), {w.window, w.of_inputs, parts});
    for (int i = 0; i < operands.count; ++i)
      if (rule.window_over(i, w.covered) != nullptr) operands.at[i] = covered(p, operands.at[i], of, wider, parts);
    (w.of_inputs ? rows[k].input : rows[k].output) = wider;
  }
  all.at[0] = p.b.add_windows(std::span<window_row const>(rows, static_cast<std::size_t>(rule.windowed_count)));
  return all;
}

}  // namespace meshtensor::detail
