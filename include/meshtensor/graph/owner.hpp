// SPDX-License-Identifier: Apache-2.0
// Finds the node that owns a region, and the node that computes a value.
#pragma once

#include "meshtensor/graph/attributes.hpp"

namespace meshtensor {

/// The node that owns a region, or no_id for an entry.
constexpr node_id node_owning(module const& m, region_id region) {
  for (int i = 0; i < m.node_count; ++i)
    for (int k = 0; k < m.nodes[i].regions.count; ++k)
      if (m.region_of(m.nodes[i], k) == region) return static_cast<node_id>(i);
  return no_id;
}

/// The node that computes a value. For a result of a loop or kernel, this is the node inside it.
constexpr node const& node_computing(module const& m, value_id v) {
  node const* n = &m.nodes[m.values[v].node];
  while (n->kind == primitive::repeat || n->kind == primitive::kernel) {
    v = m.link(m.regions[m.region_of(*n, 0)].results, m.values[v].index);
    n = &m.nodes[m.values[v].node];
  }
  return *n;
}

}  // namespace meshtensor
