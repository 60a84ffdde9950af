// SPDX-License-Identifier: Apache-2.0
// Finds the values that some user needs reduced. Each of them is reduced once, for all users.
#pragma once

#include "meshtensor/op/rules.hpp"

namespace meshtensor::detail {

/// For each value of a module that is to be partitioned: whether some use needs it reduced. Then all uses may read the
/// reduced value.
struct reduced_uses {
  bool of[max_values];

  constexpr void find(module const& m);
};

/// Fills the table for `m`. It must be all zeros before.
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
