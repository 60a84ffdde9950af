// SPDX-License-Identifier: Apache-2.0
// Maps the arguments and results of regions to the operands and results of the node that owns them.
#pragma once

#include "meshtensor/graph/attributes.hpp"

namespace meshtensor {

/// The operand of a node that the argument at `place` of its region `k` stands for. The gradient of a composite (k = 1)
/// has arguments of its own, which stand for no operand.
constexpr int operand_of_argument(node const& n, int k, int place) {
  switch (n.kind) {
    case primitive::while_loop: {
      while_attributes const counts = while_attributes::of(n);
      return k == 0 || place < counts.carries ? place : place + counts.in_condition;
    }
    case primitive::cond: return 1 + place + (k == 0 ? 0 : cond_attributes::of(n).in_then);
    default: return place;
  }
}

/// The result of a node that the value at `place` of its region becomes.
constexpr int result_of_place(node const& n, int place) { return n.kind == primitive::while_loop ? place + 1 : place; }

/// The node that owns a region; no_id of an entry.
constexpr node_id node_owning(module const& m, region_id region) {
  for (int i = 0; i < m.node_count; ++i)
    for (int k = 0; k < m.nodes[i].regions.count; ++k)
      if (m.region_of(m.nodes[i], k) == region) return static_cast<node_id>(i);
  return no_id;
}

}  // namespace meshtensor
