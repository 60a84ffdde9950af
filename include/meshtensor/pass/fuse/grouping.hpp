// SPDX-License-Identifier: Apache-2.0
// Groups the nodes that share a kernel, walking backwards from users to producers.
//
// A group iterates over one space of dims, the last of which is its vector dim. All its values have the same local part
// of a dim. The walk meets a node's users before the node. The node may join the earliest of them, because all the
// others come later. Constants, positions and broadcasts cost nothing, so every group that uses them recomputes them.
#pragma once

#include "meshtensor/pass/fuse/fused_group.hpp"
#include "meshtensor/pass/fuse/merge_siblings.hpp"
#include "meshtensor/pass/schedule.hpp"

namespace meshtensor {

/// Nodes that only change how another value is indexed.
constexpr bool is_way_to_read(module const& m, node const& n) {
  fusion_role const role = declared(m, n).fusion;
  if (role == fusion_role::broadcast) return true;
  if (role != fusion_role::transpose) return false;
  shape const &x = m.operand_value(n, 0).dims, &y = m.result_value(n).dims;
  return x.at[x.count - 1] == y.at[y.count - 1];  // otherwise a blocked transpose is faster
}

namespace detail {

/// Whether a function is cheaper to recompute than its result is to load from memory.
constexpr bool is_cheap(fusion_role role, node const& n) {
  auto const f = static_cast<function>(n.function);
  return role == fusion_role::function && (f < function::exp || f == function::relu || f >= function::logical_not) &&
         f != function::power && f != function::divide && f != function::modulo;
}

struct grouping {
  static constexpr int max_groups = sibling_merger::max_groups;
  meshtensor::module const& from;
  int count;
  fused_group groups[max_groups];
  id group_of[max_nodes];        // plus 1
  id user[max_values];           // the group that is the earliest user of a value, plus 1, or 0
  id place_of_user[max_values];  // the node at which the earliest user stands, plus 1
  bool shared[max_values];       // whether several nodes use it
  id counted_by[max_values];     // the last group that counted the value as its operand, plus 1
  value_id source[max_values];   // the value that a group loads for it: the operand of broadcasts and transposes
  fusion_role role[max_values];  // of the node that computes a value

  constexpr explicit grouping(module const& m)
      : from(m), count(0), groups{}, group_of{}, user{}, place_of_user{}, shared{}, counted_by{}, source{}, role{} {
    for (int v = 0; v < m.value_count; ++v) {
      node const& n = m.nodes[m.values[v].node];
      role[v] = declared(m, n).fusion,
      source[v] = is_way_to_read(m, n) ? source[m.operand(n, 0)] : static_cast<value_id>(v);
    }
    for (int r = 0; r < m.region_count; ++r)
      for (int i = 0; i < m.regions[r].results.count; ++i)
        use_alone(m.link(m.regions[r].results, i), no_id_t::value - 1);
    for (int i = m.node_count; i-- > 0;) place(static_cast<node_id>(i));
    sibling_merger siblings{from, count, groups, group_of, source, role};
    siblings.merge_siblings();
    for (int i = 0; i < m.node_count; ++i)
      if (group_of[i] != 0) group_of[i] = static_cast<id>(siblings.find(static_cast<id>(group_of[i] - 1)) + 1);
  }

  /// Whether every user recomputes the node, so that no other node needs it.
  constexpr bool is_gone(node const& n) const {
    return declared(from, n).fusion != fusion_role::none && place_of_user[from.result(n)] == 0;
  }

 private:
  // ---- the users of a value ----

  constexpr void use_alone(value_id v, int at) {
    if (place_of_user[v] != 0) shared[v] = true;
    if (place_of_user[v] == 0 || at < place_of_user[v] - 1) user[v] = 0, place_of_user[v] = static_cast<id>(at + 1);
  }
  constexpr void use_in(value_id read, id g) {
    value_id const v = source[read];
    id const group_mark = static_cast<id>(g + 1);
    fused_group& own = groups[g];
    if (role[v] == fusion_role::number || role[v] == fusion_role::position) {
      ++(role[v] == fusion_role::number ? own.numbers : own.steps);
      return;
    }
    if (counted_by[v] != group_mark) counted_by[v] = group_mark, ++own.operands;
    shared[v] = shared[v] || (place_of_user[v] != 0 && user[v] != group_mark);
    if (place_of_user[v] == 0 || own.place < place_of_user[v] - 1)
      user[v] = group_mark, place_of_user[v] = static_cast<id>(own.place + 1);
  }

  // ---- the scan ----

  constexpr void place(node_id i) {
    node const& n = from.nodes[i];
    if (is_in_composite(from, n)) {
      for (int k = 0; k < n.operands.count; ++k) use_alone(from.operand(n, k), i);
      return;
    }
    switch (declared(from, n).fusion) {
      case fusion_role::number:
      case fusion_role::position: return;
      case fusion_role::function:
      case fusion_role::random:
      case fusion_role::reduction:
        if (place_of_user[from.result(n)] == 0) return;  // all its users recompute it, or it is dead
        if (join(i, n) || begin(i, n)) return;
        break;
      case fusion_role::broadcast:
        if (place_of_user[from.result(n)] == 0 || begin(i, n)) return;
        break;
      case fusion_role::transpose:
        if (place_of_user[from.result(n)] == 0) return;
        break;
      case fusion_role::none: break;
    }
    for (int k = 0; k < n.operands.count; ++k) use_alone(from.operand(n, k), i);
  }

  static constexpr unsigned mask_of(shape const& space, shape const& dims) {
    unsigned mask = 0;
    for (int k = 0; k < dims.count; ++k)
      mask |= k < space.count && space.at[k] == dims.at[k] ? 1u << k : 1u << space.find(dims.at[k]);
    return mask;
  }

  /// Whether the dims that the value shares with the group's space have the same placement in both.
  constexpr bool has_layout_of_group(fused_group const& g, value const& v) const {
    for (int a = 0; a < from.axis_count; ++a)
      if (v.layout.shards(a) ? g.sharded[a] != v.dims.at[v.layout.sharded_at(a)] + 1 || g.order[a] != v.layout.order(a)
                             : g.sharded[a] != 0 && v.dims.has(g.sharded[a] - 1))
        return false;
    return true;
  }
  constexpr void span(fused_group& g, value const& v) const {
    g.space = v.dims;
    for (int a = 0; a < from.axis_count; ++a)
      g.sharded[a] = static_cast<std::uint8_t>(!v.layout.shards(a) ? 0 : v.dims.at[v.layout.sharded_at(a)] + 1),
      g.order[a] = static_cast<std::uint8_t>(v.layout.order(a));
  }

  constexpr bool begin(node_id i, node const& n) {
    if (shares_memory(n)) return false;     // an alias needs no work
    if (count == max_groups) return false;  // so many kernels would exceed the regions, too, and G20 reports that
    id const made = static_cast<id>(count++);
    fused_group& g = groups[made];
    fusion_role const as = role[from.result(n)];
    g.place = i, g.region = n.region, g.results = 1, g.common = 0xffff, g.steps = as != fusion_role::broadcast;
    span(g, as == fusion_role::reduction ? from.operand_value(n, 0) : from.result_value(n));
    if (as == fusion_role::reduction) {
      unsigned const kept = mask_of(g.space, from.result_value(n).dims), lost = g.all() & ~kept;
      if (g.space.count > 1 && kept == g.rows()) g.along = 1, g.common = static_cast<std::uint16_t>(kept);
      else g.leaving = static_cast<std::uint16_t>(lost);
    }
    adopt(i, n, made);
    return true;
  }
  constexpr void adopt(node_id i, node const& n, id g) {
    group_of[i] = static_cast<id>(g + 1);
    for (int k = 0; k < n.operands.count; ++k) use_in(from.operand(n, k), g);
  }

  /// Adds the node to the group of its earliest user, if there is such a group and it has room.
  constexpr bool join(node_id i, node const& n) {
    value_id const v = from.result(n);
    if (user[v] == 0) return false;
    id const at = static_cast<id>(user[v] - 1);
    fused_group& g = groups[at];
    if (g.steps + 1 + n.operands.count > max_kernel_steps || g.numbers + n.operands.count > max_kernel_numbers ||
        g.operands - 1 + n.operands.count > max_kernel_operands || (shared[v] && g.results == max_kernel_results))
      return false;
    if (!(role[v] == fusion_role::reduction ? takes_reduction(g, n) : takes(g, n))) return false;
    if (shared[v]) ++g.results, g.common = static_cast<std::uint16_t>(g.common & mask_of(g.space, from.values[v].dims));
    ++g.steps, --g.operands;
    adopt(i, n, at);
    return true;
  }
  constexpr bool takes(fused_group const& g, node const& n) const {
    value const& v = from.result_value(n);
    if (!has_layout_of_group(g, v)) return false;
    unsigned const spanned = v.dims == g.space ? g.all() : mask_of(g.space, v.dims);
    fusion_role const as = role[from.result(n)];
    if (as == fusion_role::random) return spanned == g.all();
    return (spanned & g.rows()) == g.rows() || (!shared[from.result(n)] && (spanned == 0 || is_cheap(as, n)));
  }
  /// Whether the group may take a reduction whose result it uses. The reduction must go along the vector dim, and may
  /// add this dim to the group's space.
  constexpr bool takes_reduction(fused_group& g, node const& n) const {
    value const &x = from.operand_value(n, 0), &y = from.result_value(n);
    int const last = x.dims.count - 1;
    if (y.dims.count != last || y.dims.has(x.dims.at[last]) || g.along == max_kernel_phases - 1) return false;
    if (g.space == x.dims) return has_layout_of_group(g, x) && ++g.along != 0;
    if (!(g.space == y.dims) || last == 0 || g.along != 0 || g.mixed || !has_layout_of_group(g, y) ||
        (g.common & g.all()) != g.all())
      return false;
    span(g, x);
    g.along = 1;
    return true;
  }
};

}  // namespace detail
}  // namespace meshtensor
