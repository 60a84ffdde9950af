// SPDX-License-Identifier: Apache-2.0
// Extracts one entry from a set of programs.
// before: traced together, so that shared variables and dims agree.  after: one entry. The ids of variables, dims and
// numbers are unchanged. `reshapes` lists the dims that rename, merge or split each other in any of the programs,
// because all programs must divide these dims alike.
#pragma once

#include "meshtensor/pass/list_reshape.hpp"
#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {

/// The module with only the entry at region `entry`.
constexpr module extract_entry(module const& m, int entry) {
  meshtensor::module result{};
  result.report = m.report;
  if (!m.report.empty()) return result;
  for (int i = 0; i < m.node_count; ++i)
    if (!elements_of(m, m.nodes[i]).adds) detail::list_reshape(result, m, m.nodes[i]);
  rebuild w(m, result);
  for (int i = 0; i < m.node_count; ++i) {
    int r = m.nodes[i].region;
    while (m.regions[r].parent != no_id) r = m.regions[r].parent;
    if (r == entry) w.copy(m.nodes[i]);
  }
  return result;
}

}  // namespace meshtensor
