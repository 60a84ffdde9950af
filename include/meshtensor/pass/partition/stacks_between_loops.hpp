// SPDX-License-Identifier: Apache-2.0
// Finds the stacks that one loop makes and another takes, and the sums of such stacks.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor::detail {

/// By value of a module that is to be partitioned: whether it is computed from stacks of loops alone, element by
/// element, and only loops take it as a stack. The gradient of a gradient adds up such stacks: the cotangents of what a
/// loop has saved. A program has no name for them, so no rule is for them: they lie as their slices lie.
struct stacks_between_loops {
  bool of[max_values];
};

constexpr bool keeps_stacks(module const& m, node const& n) {
  if (n.kind != primitive::elementwise && n.kind != primitive::transpose) return false;
  shape const& dims = m.result_value(n).dims;
  if (dims.count == 0) return false;
  for (int k = 0; k < n.operands.count; ++k) {
    shape const& given = m.operand_value(n, k).dims;
    if (given.count != dims.count || given.at[0] != dims.at[0]) return false;
  }
  return n.operands.count != 0;
}

constexpr stacks_between_loops find_stacks_between_loops(module const& m) {
  stacks_between_loops found{};
  bool any = false;
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind == primitive::repeat) {
      loop const l = loop::of(n);
      for (int k = l.carries + l.sums; k < n.results.count; ++k) found.of[m.result(n, k)] = any = true;
    } else if (any && keeps_stacks(m, n)) {
      bool all = true;
      for (int k = 0; k < n.operands.count; ++k) all = all && found.of[m.operand(n, k)];
      found.of[m.result(n)] = all;
    }
  }
  for (int r = 0; any && r < m.region_count; ++r)
    for (int k = 0; k < m.regions[r].results.count; ++k) found.of[m.link(m.regions[r].results, k)] = false;
  // Users come after what they use, so the last ones are looked at first.
  for (int i = m.node_count; any && i-- > 0;) {
    node const& n = m.nodes[i];
    loop const l = n.kind == primitive::repeat ? loop::of(n) : loop{};
    for (int k = 0; k < n.operands.count; ++k) {
      bool const taken = n.kind == primitive::repeat ? k >= l.carries && k < l.carries + l.stacked
                                                     : keeps_stacks(m, n) && found.of[m.result(n)];
      if (!taken) found.of[m.operand(n, k)] = false;
    }
  }
  return found;
}

}  // namespace meshtensor::detail
