// SPDX-License-Identifier: Apache-2.0
// Finds the values of a composite's gradient that are zero because the loss does not need all results of the composite.
#pragma once

#include "meshtensor/op/rules.hpp"

namespace meshtensor::detail {

/// Values of a region that are zero for all values of its other arguments. No node may multiply them, because zero
/// times a derivative that is not finite is NaN.
class zero_values {
 public:
  constexpr void add(value_id v) { zero_[v] = true; }
  constexpr bool has(value_id v) const { return zero_[v]; }

  /// Finds the zeros among the values of nodes [begin, end) of region `r`, if those among its arguments are known.
  constexpr void follow(module const& m, region_id r, int begin, int end) {
    for (int i = begin; i < end; ++i)
      if (node const& n = m.nodes[i]; n.region == r && is_zero(m, n)) add(m.result(n));
  }

  /// If a node adds or subtracts a zero, the position of its other operand, 0 or 1. Otherwise it is -1.
  constexpr int only_term(module const& m, node const& n) const {
    if (!applies(n, function::add) && !applies(n, function::subtract)) return -1;
    bool const first = has(m.operand(n, 0)), second = has(m.operand(n, 1));
    return first == second ? -1 : first ? 1 : 0;
  }

 private:
  constexpr bool is_zero(module const& m, node const& n) const {
    if (n.results.count != 1 || n.regions.count != 0) return false;
    bool any = false, all = true;
    for (int k = 0; k < n.operands.count; ++k) any = any || has(m.operand(n, k)), all = all && has(m.operand(n, k));
    if (!any) return false;
    if (applies(n, function::cast)) return true;
    if (applies(n, function::select)) return is_zero(m, m.operand(n, 1)) && is_zero(m, m.operand(n, 2));
    if (applies(n, function::add) || applies(n, function::subtract))
      return is_zero(m, m.operand(n, 0)) && is_zero(m, m.operand(n, 1));
    sharding const rule = sharding_of(m, n);  // zeros pass through linear operations, as partial sums do
    for (int k = 0; k < n.operands.count; ++k)
      if (linearity const how = rule.linear(k, reduction::sum);
          has(m.operand(n, k)) && (how == linearity::separate || (how == linearity::joint && all)))
        return true;
    return false;
  }
  /// A literal zero counts, too, because it may be added to a zero or be the other choice of a `select`.
  constexpr bool is_zero(module const& m, value_id v) const {
    number_value const* const literal = literal_of(m, v);
    return has(v) || (literal != nullptr && *literal == 0);
  }

  bool zero_[max_values] = {};
};

}  // namespace meshtensor::detail
