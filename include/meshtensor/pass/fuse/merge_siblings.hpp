// SPDX-License-Identifier: Apache-2.0
// Merges the groups that read the same values, or of which one reads the result of the other.
#pragma once

#include <cstdint>

#include "meshtensor/graph/declaration.hpp"
#include "meshtensor/pass/fuse/fused_group.hpp"

namespace meshtensor::detail {

struct sibling_merger {
  static constexpr int max_groups = max_nodes / 2;
  using operand_lists = value_id[max_groups][max_kernel_operands];
  meshtensor::module const& from;
  int count;
  fused_group* groups;
  id const* group_of;       // plus 1
  value_id const* source;   // the value that a group loads for it: the operand of broadcasts and transposes
  fusion_role const* role;  // of the node that computes a value

  /// The group that a group was merged into.
  constexpr id find(id g) const {
    while (groups[g].merged != 0) g = static_cast<id>(groups[g].merged - 1);
    return g;
  }

  /// Merges two groups if both read the same value with all dims of the space, or if one reads the other's result.
  /// Nodes between the groups may forbid it.
  constexpr void merge_siblings() {
    operand_lists operands = {};
    std::uint8_t counts[max_groups] = {};
    id last_user[max_values] = {};  // group, plus 1
    for (int i = 0; i < from.node_count; ++i) {
      if (group_of[i] == 0) continue;
      id const g = static_cast<id>(group_of[i] - 1);
      node const& n = from.nodes[i];
      for (int k = 0; k < n.operands.count; ++k) {
        value_id const v = source[from.operand(n, k)];
        if (group_of[from.values[v].node] == g + 1 || role[v] == fusion_role::number ||
            role[v] == fusion_role::position)
          continue;
        int const at = position(operands[g], counts[g], v);
        if (at == counts[g]) operands[g][counts[g]++] = v;
      }
    }
    for (int b = count; b-- > 0;) {  // from the first to the last
      id now = static_cast<id>(b);
      while (merge_once(now, last_user, operands, counts)) {}
      for (int k = 0; k < counts[b]; ++k) last_user[operands[b][k]] = static_cast<id>(now + 1);
    }
  }

 private:
  /// Merges the group with the first one that may take it. That group may then be merged with another.
  constexpr bool merge_once(id& now, id const* last_user, operand_lists& operands, std::uint8_t* counts) {
    for (int k = 0; k < counts[now]; ++k) {
      value_id const v = operands[now][k];
      id const made_by = group_of[from.values[v].node];
      id const other = made_by != 0 ? made_by : last_user[v];
      if (other == 0 || !(from.values[v].dims == groups[now].space)) continue;
      id const a = find(static_cast<id>(other - 1));
      if (groups[a].place >= groups[now].place || !may_merge(a, now, operands, counts)) continue;
      merge(a, now, operands, counts);
      now = a;
      return true;
    }
    return false;
  }
  /// The group of the node that computes a value, plus 1.
  constexpr id group_of_value(value_id v) const {
    id const g = group_of[from.values[v].node];
    return g == 0 ? id{0} : static_cast<id>(find(static_cast<id>(g - 1)) + 1);
  }

  static constexpr int position(value_id const* list, int length, value_id v) {
    for (int i = 0; i < length; ++i)
      if (list[i] == v) return i;
    return length;
  }

  constexpr bool may_merge(id a, id b, operand_lists const& operands, std::uint8_t const* counts) const {
    fused_group const &ga = groups[a], &gb = groups[b];
    if (ga.region != gb.region || !(ga.space == gb.space) || ga.steps + gb.steps > max_kernel_steps ||
        ga.numbers + gb.numbers > max_kernel_numbers || ga.results + gb.results > max_kernel_results ||
        ga.along + gb.along > max_kernel_phases - 1)
      return false;
    for (int x = 0; x < from.axis_count; ++x)
      if (ga.sharded[x] != gb.sharded[x] || ga.order[x] != gb.order[x]) return false;
    unsigned const over_a = ga.leaving & ga.rows(), over_b = gb.leaving & gb.rows();
    if (over_a != 0 && over_b != 0 && over_a != over_b) return false;
    // The operands of b must be available at the place of a. Also, b must not read the result of a reduction that
    // leaves a.
    int together = counts[a];
    for (int k = 0; k < counts[b]; ++k) {
      value_id const v = operands[b][k];
      id const unit = group_of_value(v);
      if (unit == a + 1) {
        if (role[v] == fusion_role::reduction && !goes_along(ga, from.values[v].dims)) return false;
        continue;
      }
      if ((unit == 0 ? from.values[v].node : groups[unit - 1].place) >= ga.place) return false;
      together += position(operands[a], counts[a], v) == counts[a];
    }
    return together <= max_kernel_operands;
  }
  static constexpr bool goes_along(fused_group const& g, shape const& y) {
    return g.space.count > 1 && y.count == g.space.count - 1 && !y.has(g.space.at[g.space.count - 1]);
  }

  constexpr void merge(id a, id b, operand_lists& operands, std::uint8_t* counts) {
    fused_group &ga = groups[a], &gb = groups[b];
    for (int k = 0; k < counts[b]; ++k)
      if (value_id const v = operands[b][k];
          group_of_value(v) != a + 1 && position(operands[a], counts[a], v) == counts[a])
        operands[a][counts[a]++] = v;
    ga.mixed = ga.mixed || gb.mixed || (ga.leaving != 0 && gb.leaving != 0 && ga.leaving != gb.leaving);
    ga.steps = static_cast<std::uint8_t>(ga.steps + gb.steps);
    ga.numbers = static_cast<std::uint8_t>(ga.numbers + gb.numbers);
    ga.results = static_cast<std::uint8_t>(ga.results + gb.results);
    ga.along = static_cast<std::uint8_t>(ga.along + gb.along);
    ga.leaving = static_cast<std::uint16_t>(ga.leaving | gb.leaving);
    ga.common = static_cast<std::uint16_t>(ga.common & gb.common);
    gb.merged = static_cast<id>(a + 1);
  }
};

}  // namespace meshtensor::detail
