// SPDX-License-Identifier: Apache-2.0
// Keeps the copies of each value in the placements made so far, and finds the cheapest way to the next placement.
#pragma once

#include "meshtensor/pass/reshard.hpp"

namespace meshtensor::detail {

/// The values of a module that is being partitioned. They are looked up by their ids in the module before.
struct placed_copies {
  builder& b;
  value_id called[max_values];  // an old value's first copy
  id next_copy[max_values];     // the next copy of the same old value, in another placement, plus 1

  constexpr explicit placed_copies(builder& target) : b(target), called{}, next_copy{} {}

  /// An old value's first copy.
  constexpr value_id operator[](value_id old) const { return called[old]; }

  constexpr void define(value_id old, value_id made) { called[old] = made; }

  /// The copy of an old value that is cheapest to reshard to `to`. If a copy has this placement already, it is
  /// returned.
  constexpr value_id cheapest_copy(value_id old, placement const& to) const {
    value_id best = called[old];
    for (value_id f = called[old];; f = static_cast<value_id>(next_copy[f] - 1)) {
      if (b.m.values[f].layout == to) return f;
      if (transition_cost(b.m.values[f].layout, to) < transition_cost(b.m.values[best].layout, to)) best = f;
      if (next_copy[f] == 0) return best;
    }
  }
  /// The copy of an old value with placement `to`. If there is none yet, it is resharded in the value's region.
  constexpr value_id copy_at(value_id old, placement const& to) {
    value_id const source = cheapest_copy(old, to);
    if (b.m.values[source].layout == to) return source;
    region_id const here = b.region;
    b.region = b.m.values[source].region;
    int const first = b.m.value_count;
    value_id const made = reshard(b, source, to);
    b.region = here;
    for (int v = first; v < b.m.value_count; ++v) {  // later uses share the intermediate copies
      next_copy[v] = next_copy[called[old]];
      next_copy[called[old]] = static_cast<id>(v + 1);
      b.m.values[v].origin = static_cast<id>(old + 1);
    }
    return made;
  }
  /// A copy without partial reductions if one exists, otherwise the first copy.
  constexpr value_id reduced_copy(value_id old) const {
    for (value_id f = called[old];; f = static_cast<value_id>(next_copy[f] - 1)) {
      if (!b.m.values[f].layout.has_partial()) return f;
      if (next_copy[f] == 0) return called[old];
    }
  }
};

}  // namespace meshtensor::detail
