// SPDX-License-Identifier: Apache-2.0
// Marks the values that depend on a target of the gradient, because only these need cotangents.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/op/gradient.hpp"

namespace meshtensor::detail {

constexpr void activate_loop(differentiation& d, node const& n, int begin, int end);

/// Marks the values of nodes [begin, end) of a region that depend on a target of the gradient as active.
constexpr void activate(differentiation& d, region_id r, int begin, int end) {
  meshtensor::module const& m = d.b.m;
  for (int i = begin; i < end; ++i) {
    node const& n = m.nodes[i];
    if (n.region != r) continue;
    bool any = false;
    for (int k = 0; k < n.operands.count; ++k) any = any || d.active[m.operand(n, k)];
    if (!any || stops_gradient(n)) continue;
    if (n.kind == primitive::repeat) {
      activate_loop(d, n, begin, i);
    } else {
      for (int k = 0; k < n.results.count; ++k) d.active[m.result(n, k)] = is_float(m.result_value(n, k).type);
    }
  }
}
constexpr void activate_loop(differentiation& d, node const& n, int begin, int end) {
  meshtensor::module const& m = d.b.m;
  loop const l = loop::of(n);
  region const& body = m.regions[m.region_of(n, 0)];
  for (int k = 0; k < n.operands.count; ++k)
    if (d.active[m.operand(n, k)]) d.active[m.link(body.arguments, k)] = true;
  for (bool changed = true; changed;) {
    changed = false;
    activate(d, m.region_of(n, 0), begin, end);
    for (int k = 0; k < l.carries; ++k) {
      value_id const given = m.link(body.results, k), taken = m.link(body.arguments, k);
      if (d.active[given] && !d.active[taken]) d.active[taken] = changed = true;
    }
  }
  for (int k = 0; k < n.results.count; ++k) {
    bool const carried = k < l.carries && d.active[m.link(body.arguments, k)];
    if (carried || d.active[m.link(body.results, k)]) d.active[m.result(n, k)] = true;
  }
}

}  // namespace meshtensor::detail
