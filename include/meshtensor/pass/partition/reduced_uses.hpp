// SPDX-License-Identifier: Apache-2.0
// Finds the values of which some user needs whole sums: those are reduced once, for all users.
#pragma once

#include "meshtensor/op/rules.hpp"

namespace meshtensor::detail {

/// By value of a module that is to be partitioned: whether some use needs it reduced, so that all uses may read it so.
struct reduced_uses {
  bool of[max_values];

  constexpr void find(module const& m);
};

/// Zeros become what `m` has.
constexpr void reduced_uses::find(module const& m) {
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    sharding const rule = n.results.count == 1 && n.operands.count != 0 ? sharding_of(m, n) : sharding{};
    for (int k = 0; k < n.operands.count; ++k) {
      value_id const v = m.operand(n, k);
      bool twice = false;
      for (int j = 0; j < k; ++j) twice = twice || m.operand(n, j) == v;
      bool const passes = n.results.count == 1 && n.regions.count == 0 && !twice && rule.may_stay_partial(k);
      if (!passes) of[v] = true;
    }
  }
}

}  // namespace meshtensor::detail
