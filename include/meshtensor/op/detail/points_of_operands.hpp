// SPDX-License-Identifier: Apache-2.0
// Counts the points of a product: the combinations of indices of all dims of its operands.
#pragma once

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor::detail {

/// The product of the extents of all dims of a node's operands but `except`. Each dim counts once.
constexpr std::int64_t points_of_operands(module const& m, node const& n, auto const& extents, dim_id except = no_id) {
  bool seen[max_dims] = {};
  std::int64_t points = 1;
  for (int k = 0; k < n.operands.count; ++k) {
    value const& v = m.operand_value(n, k);
    for (int i = 0; i < v.dims.count; ++i) {
      int const dim = v.dims.at[i];
      if (dim != except && !seen[dim]) points = saturated_product(points, extents.local(v, i));
      seen[dim] = true;
    }
  }
  return points;
}

}  // namespace meshtensor::detail
