// SPDX-License-Identifier: Apache-2.0
// Extracts one entry from a set of programs.
// before: traced together, so that shared variables and dims agree.  after: one entry; ids of variables, dims and
// numbers are unchanged.
#pragma once

#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {

/// The module with only the entry at region `entry`.
constexpr module extract_entry(module const& m, int entry) {
  meshtensor::module result{};
  result.report = m.report;
  if (!m.report.empty()) return result;
  rebuild w(m, result);
  for (int i = 0; i < m.node_count; ++i) {
    int r = m.nodes[i].region;
    while (m.regions[r].parent != no_id) r = m.regions[r].parent;
    if (r == entry) w.copy(m.nodes[i]);
  }
  return result;
}

}  // namespace meshtensor
