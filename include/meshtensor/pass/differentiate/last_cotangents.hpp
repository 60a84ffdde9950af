// SPDX-License-Identifier: Apache-2.0
// Finds the cotangents with which the backward loop of a loop starts.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/pass/differentiate/needed_cotangents.hpp"
#include "meshtensor/pass/differentiate/zeros_like.hpp"

namespace meshtensor::detail {

/// The cotangents of a loop's final carries. If the backward loop has no such carry, it is no_id. A carry that only a
/// later iteration needs starts with zeros.
constexpr id_list<> last_cotangents(differentiation& d, node_id forward) {
  meshtensor::module const& m = d.b.m;
  node const n = m.nodes[forward];
  region const body = m.regions[m.region_of(n, 0)];
  id_list<> starts{};
  bool all = true;
  for (int i = 0; i < loop::of(n).carries; ++i) {
    bool const is_active = d.differentiable(m.link(body.arguments, i));
    starts.add(is_active ? d.cotangent(m.result(n, i)) : no_id);
    all = all && (!is_active || d.has_cotangent(m.result(n, i)));
  }
  if (all) return starts;
  needed_cotangents needed(d);
  for (int i = 0; i < n.results.count; ++i)
    if (d.has_cotangent(m.result(n, i))) needed.need(m.link(body.results, i));
  needed.follow_loop(forward);
  for (int i = 0; i < starts.count; ++i)
    if (starts.at[i] == no_id && needed.has(m.link(body.arguments, i))) starts.at[i] = zeros_like(d.b, m.result(n, i));
  return starts;
}

}  // namespace meshtensor::detail
