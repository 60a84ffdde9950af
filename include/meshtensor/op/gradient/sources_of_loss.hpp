// SPDX-License-Identifier: Apache-2.0
// The values from which a loss was computed, and the errors of a gradient by a value that is not among them.
#pragma once

#include "meshtensor/graph/state_updates.hpp"
#include "meshtensor/tensor/tensor.hpp"

namespace meshtensor::detail {

/// Whether a node ends differentiation, so that its result counts as a constant.
constexpr bool stops_gradient(node const& n) {
  return n.kind == primitive::elementwise && static_cast<function>(n.function) == function::stop_gradient;
}

/// The values from which a loss was computed. All operands of a loop, branch or composite count.
struct sources_of_loss {
  bool any[max_values];             // in any way
  bool differentiable[max_values];  // along floats, and not through stop_gradient, so a gradient may arrive there

  constexpr sources_of_loss(module const& m, value_id loss) : any{}, differentiable{} {
    any[loss] = differentiable[loss] = true;
    for (int i = m.node_count; i-- > 0;) {
      node const& n = m.nodes[i];
      bool used = false, passes = false;
      for (int k = 0; k < n.results.count; ++k)
        used = used || any[m.result(n, k)], passes = passes || differentiable[m.result(n, k)];
      for (int k = 0; used && k < n.operands.count; ++k) {
        value_id const v = m.operand(n, k);
        any[v] = true;
        if (passes && !stops_gradient(n) && is_float(m.values[v].type)) differentiable[v] = true;
      }
    }
  }
};

/// The value for which arguments of open loops and views of open eaches stand.
constexpr value_id source_of(builder const& b, value_id v) {
  for (value_id outer = outer_of(b, v); outer != no_id; outer = outer_of(b, v)) v = outer;
  return v;
}

/// Reports G48 if the body of a loop or an each, in which a loss was computed, uses a tensor from outside that was
/// computed there from `by`. No gradient would flow through it.
constexpr void require_no_detour(builder& b, sources_of_loss const& sources, value_id by) {
  value_id const source = source_of(b, by);
  if (source == by) return;
  for (int i = 0; i < b.m.node_count; ++i) {
    node const& n = b.m.nodes[i];
    if ((n.kind != primitive::argument && n.kind != primitive::hide) || !sources.differentiable[b.m.result(n)])
      continue;
    value_id const outer = source_of(b, b.m.result(n));
    if (outer == source || outer == b.m.result(n) || b.m.nodes[b.m.values[outer].node].operands.count == 0) continue;
    if (!sources_of_loss(b.m, outer).differentiable[source]) continue;
    diagnostic d{};
    add_type(d << "G48 gradient: the body uses a tensor from outside that was computed there from the tensor by which "
                  "the gradient is, ",
             b.m, b.m.values[outer].type, b.m.values[outer].dims);
    b.note(add_made(d, b.m, outer) << ": compute it in the body, or end its gradient with stop_gradient");
    return;
  }
}

/// Reports G37 if a tensor that is neither parameter nor input takes no part in a loss, because it was written again.
constexpr void require_source(builder& b, sources_of_loss const& sources, value_id by) {
  node const* const maker = &b.m.nodes[b.m.values[source_of(b, by)].node];
  if (sources.any[by] || maker->kind == primitive::read || maker->kind == primitive::input) return;
  diagnostic d{};
  d << "G37 gradient: the loss was not computed from the tensor ";
  add_made(add_type(d, b.m, b.m.values[by].type, b.m.values[by].dims), b.m, by);
  b.note(d << ": an expression that is written again is another tensor, so give it a name and use that in the loss");
}

}  // namespace meshtensor::detail
