// SPDX-License-Identifier: Apache-2.0
// Finds the nodes of each region of a module, and the scopes of each node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "meshtensor/emit/graphviz/labels.hpp"
#include "meshtensor/graph/module.hpp"
#include "meshtensor/pass/bind/binding.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The nodes of each region and their scopes.
class graph_regions : protected graph_labels {
 protected:
  graph_regions(module const& m, binding const* numbers)
      : graph_labels(m, numbers), inside_(at(m.region_count)), owner_(at(m.region_count), -1) {
    for (int i = 0; i < m.node_count; ++i) {
      inside_[m.nodes[i].region].push_back(i);
      for (int k = 0; k < m.nodes[i].regions.count; ++k) owner_[m.region_of(m.nodes[i], k)] = i;
    }
  }

  /// Whether the nodes in the regions of a node are drawn in boxes, too. This holds for loops and branches.
  static bool is_open(node const& n) {
    return n.regions.count != 0 && n.kind != primitive::composite && n.kind != primitive::kernel;
  }

  /// The scopes of a node inside the scope of the node that owns its region, the outermost first.
  std::vector<path_id> scopes_of(int i) const {
    node const& n = m_.nodes[i];
    std::vector<path_id> all = chain(n.path);
    int const owner = owner_[n.region];
    std::vector<path_id> const outside = owner < 0 ? std::vector<path_id>{} : chain(m_.nodes[owner].path);
    std::size_t shared = 0;
    while (shared < all.size() && shared < outside.size() && all[shared] == outside[shared]) ++shared;
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shared));
    return all;
  }
  std::vector<path_id> chain(path_id p) const {
    std::vector<path_id> all;
    for (; p < m_.path_count; p = m_.paths[p].parent) all.insert(all.begin(), p);
    return all;
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::vector<std::vector<int>> inside_;  // the nodes of each region
  std::vector<int> owner_;                // the node that owns each region, or -1
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
