// SPDX-License-Identifier: Apache-2.0
// Checks the placements of an operation by its sharding rule, for one mesh axis at a time.
#pragma once

#include "meshtensor/op/rules.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// Whether a value is whole because the axis has size 1.
constexpr bool is_whole_on_one(module const& m, placement const& p, int a) {
  return m.axes[a].extent == 1 && p.is_replicated(a);
}

struct operation_layout {
  meshtensor::module const& m;

  constexpr char const* check_by_rule(node const& n, sharding const& rule, int a) const {
    return with_rule(n.kind, [&]<class R>() {
      if constexpr (requires { R::check_axis(m, n, a); }) return R::check_axis(m, n, a);
      else return check_axis(n, rule, a);
    });
  }

 private:
  constexpr placement const& at(value_id v) const { return m.values[v].layout; }

  constexpr char const* check_axis(node const& n, sharding const& rule, int a) const {
    shape const& result = m.result_value(n).dims;
    placement const& p = at(m.result(n));
    int sharded = -1, first = -1, partials = 0;
    for (int i = 0; i < n.operands.count; ++i) {
      value const& v = m.operand_value(n, i);
      if (v.layout.shards(a)) {
        int const raw = v.dims.at[v.layout.sharded_at(a)], dim = rule.name_in_result(i, raw);
        if (rule.window_over(i, raw) != nullptr && m.dims[raw].kind != dim_row::halo)
          return "a window moves over a part without what it reaches";
        if (sharded >= 0 && dim != sharded) {
          if (divides_as_rows(m, rule, sharded, dim, a, v.layout)) continue;
          if (!divides_as_rows(m, rule, dim, sharded, a, at(m.operand(n, first))))
            return "one mesh axis shards different dims of the operands";
          sharded = dim, first = i;
        }
        if (sharded < 0) sharded = dim, first = i;
      }
      if (v.layout.is_partial(a) && partials++ == 0 && first < 0) first = i;
    }
    if (first < 0) return check_fresh(n, rule, a);
    if (sharded < 0) return check_partial(n, rule, a, first, partials);
    if (partials != 0) return "an operand is partial over a mesh axis that shards another";

    value const& v = m.operand_value(n, first);
    int const dim = v.dims.at[v.layout.sharded_at(a)], position = result.find(sharded);
    for (int i = 0; i < n.operands.count; ++i) {
      value const& x = m.operand_value(n, i);
      bool const is_whole_below_windows = rule.window_over(i, sharded) != nullptr;
      if (x.dims.has(sharded) && !x.layout.shards(a) && !is_whole_below_windows)
        return "an operand is replicated along a dim that another has sharded";
    }
    if (rule.needs_whole(dim)) return "a dim is sharded that the operation needs whole";
    if (position < 0 && rule.looks && p.shards(a) && p.sharded_at(a) == result.find(rule.looked_up) &&
        divides_as_rows(m, rule, sharded, rule.looked_up, a, p))
      return nullptr;
    if (position < 0)  // over an axis of size 1, a sum is whole, too
      return rule.contracts != reduction::none && (p.part(a) == rule.contracts || is_whole_on_one(m, p, a))
                 ? nullptr
                 : "a sum over a sharded dim is not partial";
    return p.sharded_at(a) == position && p.order(a) == v.layout.order(a)
               ? nullptr
               : "a result's placement differs from its operands'";
  }
  constexpr char const* check_partial(node const& n, sharding const& rule, int a, int first, int partials) const {
    reduction const kind = m.operand_value(n, first).layout.part(a);
    linearity const how = rule.linear(first, kind);
    if (how == linearity::none || (how == linearity::separate && partials != 1) ||
        (how == linearity::joint && partials != n.operands.count))
      return "a partial operand goes through an operation that needs it reduced";
    for (int i = 0; i < n.operands.count; ++i)
      if (m.operand_value(n, i).layout.part(a) != kind && how == linearity::joint)
        return "operands are partial in different ways";
    return at(m.result(n)).part(a) == kind ? nullptr : "the result of a partial operand is not partial";
  }
  // Checks an axis over which no operand is sharded or partial. It may only shard a dim that this node creates.
  constexpr char const* check_fresh(node const& n, sharding const& rule, int a) const {
    placement const& p = at(m.result(n));
    if (p.is_partial(a)) return "a result is partial though no operand is";
    if (!p.shards(a)) return nullptr;
    int const dim = m.result_value(n).dims.at[p.sharded_at(a)];
    if (rule.needs_whole(dim)) return "a dim is sharded that the operation needs whole";
    for (int i = 0; i < n.operands.count; ++i)
      for (int k = 0; k < m.operand_value(n, i).dims.count; ++k)
        if (rule.window_over(i, m.operand_value(n, i).dims.at[k]) == nullptr &&
            rule.name_in_result(i, m.operand_value(n, i).dims.at[k]) == dim)
          return "a result is sharded along a dim that its operands have whole";
    return nullptr;
  }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
