// SPDX-License-Identifier: Apache-2.0
// Watches the results of loops that the indices of an each run differently often, in place of tensors inside them. Such
// a result is zero where an index takes no part, but a tensor inside is then that of another index.
#pragma once

#include "meshtensor/pass/rebuild.hpp"
#include "meshtensor/pass/watch.hpp"
#include "meshtensor/pass/widen/hidden_dims.hpp"

namespace meshtensor::detail {

/// The watches inside of loops whose number of iterations differs by index. Gradients that are watched are zero there
/// in any case.
struct watches_in_decisions {
  int count = 0;
  bool is_one[max_nodes] = {};  // by node

  constexpr explicit watches_in_decisions(module const& m) {
    bool any = false;
    for (int i = 0; i < m.node_count; ++i) any = any || is_watch_in_a_region(m, m.nodes[i]);
    if (!any) return;
    hidden_dims const hidden(m);
    for (int i = 0; i < m.node_count; ++i) {
      if (!is_watch_in_a_region(m, m.nodes[i])) continue;
      for (region_id r = m.nodes[i].region; m.regions[r].parent != no_id && !is_one[i]; r = m.regions[r].parent)
        is_one[i] = hidden.of_decision(m.nodes[node_owning(m, r)]) != 0;
      count += is_one[i];
    }
  }

 private:
  static constexpr bool is_watch_in_a_region(module const& m, node const& n) {
    return n.kind == primitive::watch && !watch_attributes::of(n).of_gradient && m.regions[n.region].parent != no_id;
  }
};

/// The module with these watches outside of the loops.
constexpr module watched_outside(module const& m, watches_in_decisions const& watches) {
  meshtensor::module result{};
  rebuild w(m, result);
  for (int i = 0; i < m.node_count; ++i)
    if (!watches.is_one[i]) w.copy(m.nodes[i]);
  for (int i = 0; i < m.node_count && result.report.empty(); ++i) {
    if (!watches.is_one[i]) continue;
    node const& n = m.nodes[i];
    w.enter(n);
    value_id const all = stacked_outside(w.b, name_of(n), w[m.operand(n, 0)]);
    w.b.region = result.values[all].region;
    result.nodes[w.b.add_node(primitive::watch, 0, ids(&all, 1), watch_attributes::of(n).packed())].effect = true;
  }
  return result;
}

}  // namespace meshtensor::detail
