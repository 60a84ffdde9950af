// SPDX-License-Identifier: Apache-2.0
// Replaces composites by the nodes of their bodies.
// before: any verified module.  after: only claimed composites are left. While gradients are still to be taken, these
// are the composites with a custom gradient. Later, they are those that a device runs whole.
// why: a body's nodes can then be differentiated, and fused with the nodes around them.
#pragma once

#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {

/// Says whether a composite is kept.
using composite_claim = bool (*)(module const&, node const&);

constexpr bool claims_nothing(module const&, node const&) { return false; }
constexpr bool has_own_gradient(module const&, node const& n) { return n.regions.count > 1; }
/// Number of leading results whose cotangents a composite's own gradient takes. The cotangents of the other results go
/// through its body.
constexpr int cotangents_taken(module const& m, node const& n) {
  if (!has_own_gradient(m, n)) return 0;
  return m.regions[m.region_of(n, 1)].arguments.count - n.operands.count - n.results.count;
}

/// Inlines all composites that `claimed` does not keep.
constexpr module inline_composites(module const& from, composite_claim claimed = claims_nothing) {
  meshtensor::module m{};
  rebuild w(from, m);
  id owner[max_regions] = {};  // of a body: the composite that owns it, plus 1
  bool opened[max_regions] = {}, gone[max_regions] = {};
  for (int i = 0; i < from.node_count; ++i) {
    node const& n = from.nodes[i];
    if (n.kind != primitive::composite) continue;
    region_id const body = from.region_of(n, 0);
    owner[body] = static_cast<id>(i + 1);
    opened[body] = !claimed(from, n);
    for (int k = 1; k < n.regions.count; ++k) gone[from.region_of(n, k)] = opened[body];
  }
  for (int r = 0; r < from.region_count; ++r)  // nodes of an inlined body move to the region of its owner
    if (opened[r]) w.entered[r] = static_cast<id>(w.region_of(from.regions[r].parent) + 1);
  for (int i = 0; i < from.node_count && m.report.empty(); ++i) {
    node const& n = from.nodes[i];
    if (gone[n.region]) continue;
    if (n.kind == primitive::argument && opened[n.region]) {
      value_id v = from.result(n);
      for (node const* a = &n; a->kind == primitive::argument && opened[a->region];
           a = &from.nodes[from.values[v].node])
        v = from.operand(from.nodes[owner[a->region] - 1], place_of(*a));
      // An enclosing region may take a value from outside that was recorded after the body that uses it.
      if (!w.has(v)) w.copy(from.nodes[from.values[v].node]);
      w.replace(from.result(n), w[v]);
    } else if (n.kind == primitive::argument && w.has(from.result(n))) {
      continue;
    } else if (n.kind == primitive::composite && opened[from.region_of(n, 0)]) {
      region const& body = from.regions[from.region_of(n, 0)];
      for (int k = 0; k < n.results.count; ++k) w.replace(from.result(n, k), w[from.link(body.results, k)]);
    } else {
      w.copy(n);
    }
  }
  return m;
}

}  // namespace meshtensor
