// SPDX-License-Identifier: Apache-2.0
// Checks that the placements of a node fit those of the arguments and results of its regions.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/op/constant.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"
#include "meshtensor/pass/verify/verify_layout/check_operation.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

struct region_layout {
  meshtensor::module const& m;

  constexpr char const* check_owner(node const& n) const {
    bool const repeats = n.kind == primitive::repeat;
    loop const l = loop::of(n);
    bool const joined = epilogue_form_of(m, n).found;  // a tensor that it adds to a partial product is partial, too
    int const carries = repeats ? l.carries : 0;
    for (int k = 0; k < n.regions.count; ++k) {
      if (k > 0 && n.kind == primitive::composite) break;
      region const& g = m.regions[m.region_of(n, k)];
      for (int i = 0; i < g.arguments.count; ++i) {
        value_id const outer = m.operand(n, i), inner = m.link(g.arguments, i);
        bool const stacked = repeats && i >= l.carries && i < l.carries + l.stacked;
        if (stacked  ? !stacks(at(outer), at(inner), false)
            : joined ? !is_joined_at(at(outer), at(inner))
                     : !(at(outer) == at(inner)))
          return "an argument's placement differs from its operand's";
        if (at(outer).has_partial() && n.kind != primitive::kernel && !joined && !(i < carries && is_zero(outer)))
          return "an operand of a region is partial";
      }
      for (int i = 0; i < g.results.count; ++i) {
        value_id const inner = m.link(g.results, i), outer = m.result(n, i);
        bool const stacked = repeats && i >= l.carries + l.sums;
        if (i < carries && !(at(inner) == at(m.link(g.arguments, i))))
          return "a carry's placement changes in an iteration";
        if (stacked ? !stacks(at(outer), at(inner), true) : !(at(outer) == at(inner)))
          return "a result's placement differs from its region's result";
        for (int a = 0; a < m.axis_count && repeats && i >= carries && !stacked; ++a)
          if (at(inner).part(a) == reduction::max || at(inner).part(a) == reduction::min)
            return "a loop sums a partial max or min";
      }
    }
    return nullptr;
  }

 private:
  constexpr placement const& at(value_id v) const { return m.values[v].layout; }

  /// Whether `whole` has the placement of `part` with one more dim in front. If an axis shards that dim, the rank that
  /// has the iteration's slice holds the part. However, all ranks may hold a part that a loop stacks.
  constexpr bool stacks(placement const& whole, placement const& part, bool is_given) const {
    for (int a = 0; a < m.axis_count; ++a) {
      if (whole.part(a) != part.part(a)) return false;
      if (is_given && whole.sharded_at(a) == 0 && !part.shards(a)) continue;
      int const in_part = !whole.shards(a)           ? -1
                          : whole.sharded_at(a) == 0 ? placement::of_loop
                                                     : whole.sharded_at(a) - 1;
      if (part.sharded_at(a) != in_part || part.order(a) != whole.order(a)) return false;
    }
    return true;
  }
  // Whether a value is zero everywhere. A carry that starts at zero may be partial, because the loop may then add
  // partial terms to it.
  constexpr bool is_zero(value_id v) const {
    number_value const* const number = literal_of(m, v);
    return number != nullptr && *number == 0;
  }

  // Whether the placements of an operand and of an argument fit. Over an axis of size 1, the argument of a joined chain
  // may be whole even if the operand is partial.
  constexpr bool is_joined_at(placement const& outer, placement inner) const {
    for (int a = 0; a < m.axis_count; ++a)
      if (is_whole_on_one(m, inner, a)) inner.set_part(a, outer.part(a));
    return inner == outer;
  }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
