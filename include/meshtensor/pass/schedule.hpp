// SPDX-License-Identifier: Apache-2.0
// Schedules the nodes of every region: decides the order in which they run.
// before: partitioned and fused.  after: one order, the same on every rank, because it depends only on global facts.
#pragma once

#include "meshtensor/op/rules.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The nodes of region r, in execution order: nodes[first[r]] … nodes[first[r] + count[r] - 1].
struct order {
  node_id nodes[max_nodes];
  id first[max_regions], count[max_regions];
};

/// Whether a node's result is an alias of its operand.
constexpr bool shares_memory(node const& n) {
  return declared(n.kind).buffer == buffer_use::shared || applies(n, function::stop_gradient);
}

/// Nodes run in the order in which they were made, but the update of a variable as soon as its old value is no longer
/// needed.
constexpr order schedule(module const& m) {
  order o{};
  id last_use[max_values] = {};   // of a value read from a variable: the last node that uses it, under any alias
  id read_of[max_values] = {};    // the read whose buffer a value shares, plus 1
  id next_write[max_nodes] = {};  // writes that follow a node, plus 1
  id first_write[max_nodes] = {};
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind == primitive::read) read_of[m.result(n)] = static_cast<id>(m.result(n) + 1);
    for (int k = 0; k < n.operands.count; ++k)
      if (id const r = read_of[m.operand(n, k)]; r != 0 && n.kind != primitive::write) {
        last_use[r - 1] = static_cast<id>(i);
        if (shares_memory(n)) read_of[m.result(n)] = r;
      }
  }
  id old_value[max_variables] = {};
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == primitive::read)
      old_value[variable_of(m.nodes[i])] = static_cast<id>(m.result(m.nodes[i]) + 1);
  for (int i = m.node_count; i-- > 0;) {
    node const& n = m.nodes[i];
    if (n.kind != primitive::write) continue;
    id const old = old_value[variable_of(n)];
    node_id const made = m.values[m.operand(n, 0)].node;
    id const used = old == 0 ? id{0} : last_use[old - 1];
    id const after = made < used ? used : id{made};
    next_write[i] = first_write[after];
    first_write[after] = static_cast<id>(i + 1);
  }
  for (int i = 0; i < m.node_count; ++i) ++o.count[m.nodes[i].region];
  int total = 0;
  for (int r = 0; r < m.region_count; ++r) {
    o.first[r] = static_cast<id>(total);
    total += o.count[r];
    o.count[r] = 0;
  }
  auto put = [&](int i) {
    int const r = m.nodes[i].region;
    o.nodes[o.first[r] + o.count[r]++] = static_cast<node_id>(i);
  };
  for (int i = 0; i < m.node_count; ++i) {
    if (m.nodes[i].kind != primitive::write) put(i);
    for (id w = first_write[i]; w != 0; w = next_write[w - 1]) put(w - 1);
  }
  return o;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
