// SPDX-License-Identifier: Apache-2.0
// Widens the nodes that the body of a decision makes for each index by itself: only indices that take part count.
#pragma once

#include "meshtensor/pass/widen/decision.hpp"
#include "meshtensor/pass/widen/refused_difference.hpp"
#include "meshtensor/pass/widen/widened_operation.hpp"

namespace meshtensor::detail {

/// The part of `widen` that knows which indices take part where.
struct taking_part : widened_operation {
  decisions decided;
  bool chooses[max_regions];  // by old region: it has a node that is made for each index by itself, or is around one

  constexpr taking_part(meshtensor::module const& source, meshtensor::module& target)
      : widened_operation(source, target), decided{}, chooses{} {
    for (int i = 0; i < from.node_count; ++i)
      if (is_by_index(from.nodes[i]))
        for (region_id r = from.nodes[i].region; r != no_id; r = from.regions[r].parent) chooses[r] = true;
  }

  // Whether a node in the body of a decision is made here for each index: numbers that an index draws or has, and
  // tensors that are watched. All other values of the body come from its arguments.
  constexpr bool is_by_index(node const& n) const {
    if (n.kind != primitive::watch) return hidden.is_replaced(n);
    return !watch_attributes::of(n).of_gradient && (hidden.of[from.operand(n, 0)] & hidden.around(n.region)) != 0;
  }
  // The decision by which not all indices run region `r`, in values of this region, or null.
  constexpr decision const* decision_in(region_id r) {
    if (decided.of[r] != 0) return &decided.at(r);
    if (hidden.owner[r] == 0) return nullptr;
    node const& at = from.nodes[hidden.owner[r] - 1];
    decision const* const around = decision_in(at.region);
    if (around == nullptr || at.regions.count != 1) return nullptr;
    region_id const here = b.region;
    b.region = region_of(r);
    decision const passed = around->passed_on(b);
    b.region = here;
    decision& d = decided.add(b, r);
    d = passed;
    return &d;
  }
  constexpr void hide(node const& n) {
    value_id const old = from.result(n);
    shape const dims = hidden.wide(hidden.of_computed(n, 0), from.values[old].dims);
    value_id v = with_dims(given(n, 0), dims);
    if (is_by_index(n))
      if (decision const* const d = decision_in(n.region); d != nullptr) v = with_dims(d->stand_in(b, v), dims);
    give(old, v);
  }
  // Indices that take no part watch zeros, as iterations that do not run do. If the tensor differs by some of the
  // decision's dims, an index along these takes part if it does so together with any index along the others.
  constexpr void watch(node const& n) {
    value_id const old = from.operand(n, 0);
    value_id seen = (*this)[old];
    if (is_by_index(n))
      if (decision const* const d = decision_in(n.region); d != nullptr) {
        shape const others = without(d->dims, hidden.dims_of(hidden.of[old]));
        value_id takes_part = d->takes_part;
        if (others.count != 0) takes_part = reduce(b, reduction::max, takes_part, others);
        seen = with_dims(select(b, takes_part, seen, constant(b, 0, m.values[seen].type)), hidden.wide(old));
      }
    copy(n, ids(&seen, 1));
  }
};

}  // namespace meshtensor::detail
