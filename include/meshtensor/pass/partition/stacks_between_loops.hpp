// SPDX-License-Identifier: Apache-2.0
// Finds the stacks that one loop makes and another loop takes, and the sums of such stacks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor::detail {

/// For each value of a module that is to be partitioned: the number of its leading dims along which loops have stacked
/// it. The number is 0 unless the value is a stack, or computed element by element from stacks and values without dims.
/// It is also 0 unless only loops take the value, as a stack.
///
/// For example, the gradient of a gradient adds up the cotangents of values that a loop has saved. A program has no
/// name for these stacks, so no rule of a layout fits them. Therefore they get the placements of their slices.
struct stacks_between_loops {
  std::int8_t of[max_values];

  constexpr void find(module const& m);

 private:
  constexpr int kept(module const& m, node const& n) const;
};

/// The number of leading dims of a node's result along which its operands are stacked. It is 0 if the node does not
/// compute element by element.
constexpr int stacks_between_loops::kept(module const& m, node const& n) const {
  if (n.kind != primitive::elementwise && n.kind != primitive::transpose) return 0;
  int least = 0;
  for (int k = 0; k < n.operands.count; ++k) least = std::max<int>(least, of[m.operand(n, k)]);
  if (least == 0) return 0;
  shape const& dims = m.result_value(n).dims;
  for (int k = 0; k < n.operands.count; ++k) {
    shape const& given = m.operand_value(n, k).dims;
    if (given.count == 0) continue;
    if (given.count != dims.count) return 0;
    int same = 0;
    while (same < of[m.operand(n, k)] && given.at[same] == dims.at[same]) ++same;
    least = std::min(least, same);
  }
  return least;
}

/// Fills the table for `m`. It must be all zeros before.
constexpr void stacks_between_loops::find(module const& m) {
  node_id owner[max_regions]{};
  int first = m.node_count;  // the first loop: no value before it is stacked
  for (int i = m.node_count; i-- > 0;)
    if (node const& n = m.nodes[i]; n.kind == primitive::repeat)
      owner[m.region_of(n, 0)] = static_cast<node_id>(i), first = i;
  for (int i = first; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind == primitive::argument) {  // a slice of a stack of stacks
      node const& around = m.nodes[owner[n.region]];
      if (around.kind != primitive::repeat) continue;
      loop const l = loop::of(around);
      if (int const k = place_of(n); k >= l.carries && k < l.carries + l.stacked)
        of[m.result(n)] = static_cast<std::int8_t>(std::max(0, of[m.operand(around, k)] - 1));
    } else if (n.kind == primitive::repeat) {
      loop const l = loop::of(n);
      list const given = m.regions[m.region_of(n, 0)].results;
      for (int k = l.carries + l.sums; k < n.results.count; ++k)
        of[m.result(n, k)] = static_cast<std::int8_t>(1 + of[m.link(given, k)]);
    } else if (n.results.count == 1) {
      of[m.result(n)] = static_cast<std::int8_t>(kept(m, n));
    }
  }
  // Users come after the values that they use, and loops after their bodies. Therefore this loop goes backwards.
  for (int i = m.node_count; i-- > first;) {
    node const& n = m.nodes[i];
    bool const repeats = n.kind == primitive::repeat;
    loop const l = repeats ? loop::of(n) : loop{};
    for (int k = 0; k < n.operands.count; ++k) {
      std::int8_t& given = of[m.operand(n, k)];
      if (given == 0) continue;
      bool const taken =
          repeats ? k >= l.carries && k < l.carries + l.stacked : n.results.count == 1 && of[m.result(n)] != 0;
      if (!taken) given = 0;
    }
    for (int r = 0; r < n.regions.count; ++r) {
      list const given = m.regions[m.region_of(n, r)].results;
      for (int k = 0; k < given.count; ++k)  // a loop around both may stack such stacks
        if (!(repeats && k >= l.carries + l.sums && of[m.result(n, k)] != 0)) of[m.link(given, k)] = 0;
    }
  }
}

}  // namespace meshtensor::detail
