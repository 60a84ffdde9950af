// SPDX-License-Identifier: Apache-2.0
// Finds the stacks that one loop makes and another takes, and the sums of such stacks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor::detail {

/// By value of a module that is to be partitioned: the number of its first dims along which loops have stacked it.
/// 0: it is not computed, element by element, from stacks and values without dims alone, or not only loops take it, as
/// a stack. The gradient of a gradient adds up such stacks: the cotangents of what a loop has saved. A program has no
/// name for them, so no rule is for them: they lie as their slices lie.
struct stacks_between_loops {
  std::int8_t of[max_values];
};

/// The number of first dims of a node's result along which its operands are stacked; 0 if it does not compute element
/// by element.
constexpr int kept_stacks(module const& m, node const& n, stacks_between_loops const& found) {
  if (n.kind != primitive::elementwise && n.kind != primitive::transpose) return 0;
  shape const& dims = m.result_value(n).dims;
  int least = dims.count;
  for (int k = 0; k < n.operands.count; ++k) {
    shape const& given = m.operand_value(n, k).dims;
    if (given.count == 0) continue;
    if (given.count != dims.count) return 0;
    int same = 0;
    while (same < found.of[m.operand(n, k)] && given.at[same] == dims.at[same]) ++same;
    least = std::min(least, same);
  }
  return n.operands.count == 0 ? 0 : least;
}

constexpr stacks_between_loops find_stacks_between_loops(module const& m) {
  stacks_between_loops found{};
  node_id owner[max_regions]{};
  for (int i = 0; i < m.node_count; ++i)
    for (int r = 0; r < m.nodes[i].regions.count; ++r) owner[m.region_of(m.nodes[i], r)] = static_cast<node_id>(i);
  bool any = false;
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (any && n.kind == primitive::argument) {  // a slice of a stack of stacks
      node const& around = m.nodes[owner[n.region]];
      loop const l = around.kind == primitive::repeat ? loop::of(around) : loop{};
      if (int const k = place_of(n); k >= l.carries && k < l.carries + l.stacked)
        found.of[m.result(n)] = static_cast<std::int8_t>(std::max(0, found.of[m.operand(around, k)] - 1));
    } else if (n.kind == primitive::repeat) {
      loop const l = loop::of(n);
      list const given = m.regions[m.region_of(n, 0)].results;
      for (int k = l.carries + l.sums; k < n.results.count; ++k)
        found.of[m.result(n, k)] = static_cast<std::int8_t>(1 + found.of[m.link(given, k)]), any = true;
    } else if (any && n.results.count == 1) {
      found.of[m.result(n)] = static_cast<std::int8_t>(kept_stacks(m, n, found));
    }
  }
  // Users come after what they use, and loops after their bodies, so the last ones are looked at first.
  for (int i = m.node_count; any && i-- > 0;) {
    node const& n = m.nodes[i];
    bool const repeats = n.kind == primitive::repeat;
    loop const l = repeats ? loop::of(n) : loop{};
    for (int k = 0; k < n.operands.count; ++k) {
      bool const taken =
          repeats ? k >= l.carries && k < l.carries + l.stacked : n.results.count == 1 && found.of[m.result(n)] != 0;
      if (!taken) found.of[m.operand(n, k)] = 0;
    }
    for (int r = 0; r < n.regions.count; ++r) {
      list const given = m.regions[m.region_of(n, r)].results;
      for (int k = 0; k < given.count; ++k)  // a loop around both may stack such stacks
        if (!(repeats && k >= l.carries + l.sums && found.of[m.result(n, k)] != 0)) found.of[m.link(given, k)] = 0;
    }
  }
  return found;
}

}  // namespace meshtensor::detail
