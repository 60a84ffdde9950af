// SPDX-License-Identifier: Apache-2.0
// Finds the node that owns a region.
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

}  // namespace meshtensor
