// SPDX-License-Identifier: Apache-2.0
// Extracts one entry from a set of programs.
// before: traced together, so that shared variables and dims agree.  after: one entry. The ids of variables, dims and
// numbers are unchanged. `reshapes` lists the dims that rename, merge or split each other in any of the programs,
// because all programs must divide these dims alike.
#pragma once

#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {
namespace detail {

/// Lists the dims that are renamed, merged and split.
constexpr void list_reshapes(module& to, module const& m) {
  for (int i = 0; i < m.node_count; ++i) {
    same_elements const same = elements_of(m, m.nodes[i]);
    if (same.before.count == 0 || same.adds) continue;
    reshape_row const row{same.before, same.after, m.nodes[i].site};
    int k = 0;
    while (k < to.reshape_count && !(to.reshapes[k].before == row.before && to.reshapes[k].after == row.after)) ++k;
    if (k < to.reshape_count) continue;
    if (to.reshape_count == max_reshapes) {
      to.report << "G20 the programs rename, merge and split dims in more than " << max_reshapes
                << " ways: declare fewer of them together";
      return;
    }
    to.reshapes[to.reshape_count++] = row;
  }
}

}  // namespace detail

/// The module with only the entry at region `entry`.
constexpr module extract_entry(module const& m, int entry) {
  meshtensor::module result{};
  result.report = m.report;
  if (!m.report.empty()) return result;
  detail::list_reshapes(result, m);
  rebuild w(m, result);
  for (int i = 0; i < m.node_count; ++i) {
    int r = m.nodes[i].region;
    while (m.regions[r].parent != no_id) r = m.regions[r].parent;
    if (r == entry) w.copy(m.nodes[i]);
  }
  return result;
}

}  // namespace meshtensor
