// SPDX-License-Identifier: Apache-2.0
// Verifies that the computations of all ranks fit together, by checking placements operation by operation and axis by
// axis.
// before: partitioned.  after: the same. The first fault found is one sentence.
// why: a wrong placement does not crash. However, it gives wrong numbers on more than one rank.
#pragma once

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/graph/owner.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

struct layout_verifier {
  meshtensor::module const& m;
  diagnostic found;

  constexpr explicit layout_verifier(module const& target) : m(target), found{} {
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      char const* fault = nullptr;
      for (int k = 0; k < n.results.count && fault == nullptr; ++k) fault = check_placement(m.result_value(n, k));
      if (fault == nullptr) fault = check(n);
      if (fault == nullptr) continue;
      found << "S40 " << fault;
      locate(found, m, n);
      return;
    }
  }

 private:
  static constexpr placement const& at(value const& v) { return v.layout; }
  constexpr placement const& at(value_id v) const { return m.values[v].layout; }

  // A mesh axis shards at most one dim, or else is partial. The axes of a dim are numbered 0, 1, ….
  constexpr char const* check_placement(value const& v) const {
    placement const& p = v.layout;
    unsigned places[shape::capacity] = {}, count[shape::capacity] = {};
    for (int a = 0; a < max_axes; ++a) {
      if (!p.shards(a) && !p.is_partial(a)) continue;
      if (a >= m.axis_count) return "a placement names a mesh axis that does not exist";
      if (!p.shards(a)) continue;
      if (p.is_partial(a)) return "a mesh axis shards a value that is partial over it";
      int const d = p.sharded_at(a);
      if (d == placement::of_loop) continue;
      if (d >= v.dims.count) return "a mesh axis shards a dim that the value does not have";
      places[d] |= 1u << p.order(a), ++count[d];
    }
    for (int d = 0; d < v.dims.count; ++d)
      if (places[d] != (1u << count[d]) - 1u) return "the mesh axes of a dim are not numbered consecutively";
    return nullptr;
  }

  constexpr char const* check(node const& n) const {
    switch (n.kind) {
      case primitive::argument: return nullptr;  // checked with the owner of its region
      case primitive::read:
      case primitive::write: {
        placement const& p = at(n.kind == primitive::read ? m.result(n) : m.operand(n, 0));
        return p == m.variables[variable_of(n)].layout ? nullptr
                                                       : "a variable lies elsewhere than its next value or its reads";
      }
      case primitive::output: return at(m.operand(n, 0)).has_partial() ? "an output is partial" : nullptr;
      case primitive::input: return at(m.result(n)).has_partial() ? "an input is partial" : nullptr;
      case primitive::wait:
        return at(m.result(n)) == at(m.operand(n, 0)) ? nullptr : "a wait changes the placement of a value";
      case primitive::gradient: return "a gradient is left after partition";
      case primitive::repeat:
      case primitive::composite:
      case primitive::kernel: return check_owner(n);
      default:
        if (is_collective(n.kind) || n.kind == primitive::local_slice) return check_collective(n);
        for (int k = 0; k < n.operands.count; ++k)
          if (is_held_by_one(at(m.operand(n, k)))) return "an operation reads a slice that only one rank holds";
        sharding const rule = sharding_of(m, n);
        for (int a = 0; a < m.axis_count; ++a)
          if (char const* fault = check_by_rule(n, rule, a)) return fault;
        return nullptr;
    }
  }

  // ---- operations: the rule for one axis ----

  constexpr char const* check_by_rule(node const& n, sharding const& rule, int a) const {
    return with_rule(n.kind, [&]<class R>() {
      if constexpr (requires { R::check_axis(m, n, a); }) return R::check_axis(m, n, a);
      else return check_axis(n, rule, a);
    });
  }

  constexpr char const* check_axis(node const& n, sharding const& rule, int a) const {
    shape const& result = m.result_value(n).dims;
    placement const& p = at(m.result(n));
    int sharded = -1, first = -1, partials = 0;
    for (int i = 0; i < n.operands.count; ++i) {
      value const& v = m.operand_value(n, i);
      if (v.layout.shards(a)) {
        int const raw = v.dims.at[v.layout.sharded_at(a)], dim = rule.name_in_result(i, raw);
        if (rule.window_over(i, raw) != nullptr && m.dims[raw].kind != dim_row::cover)
          return "a window moves over a part without what it reaches";
        if (sharded >= 0 && dim != sharded) {
          if (lies_with_rows(m, rule, sharded, dim, a, v.layout)) continue;
          if (!lies_with_rows(m, rule, dim, sharded, a, at(m.operand(n, first))))
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
        lies_with_rows(m, rule, sharded, rule.looked_up, a, p))
      return nullptr;
    if (position < 0)  // over an axis of size 1, a sum is whole, too
      return rule.contracts != reduction::none && (p.part(a) == rule.contracts || is_whole_on_one(p, a))
                 ? nullptr
                 : "a sum over a sharded dim is not partial";
    return p.sharded_at(a) == position && p.order(a) == v.layout.order(a)
               ? nullptr
               : "a result's placement differs from its operands'";
  }
  constexpr bool is_whole_on_one(placement const& p, int a) const {
    return m.axes[a].extent == 1 && p.is_replicated(a);
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

  // ---- communication ----

  constexpr char const* check_collective(node const& n) const {
    value const &x = m.operand_value(n, 0), &y = m.result_value(n);
    if (n.kind == primitive::move) return check_move(n, x, y);
    if (n.kind == primitive::move_rows) return check_move_rows(n, x, y);
    collective_attributes const c = collective_attributes::of(n);
    unsigned const mask = c.axes;
    if (mask == 0 || mask >> m.axis_count != 0) return "a collective over no mesh axis, or one that is not there";
    if (!(x.dims == y.dims) || x.type != y.type) return "a collective changes dims or dtype";
    bool const reduces = n.kind == primitive::all_reduce || n.kind == primitive::reduce_scatter;
    bool const takes = n.kind == primitive::all_gather || n.kind == primitive::all_to_all;
    bool const gives = n.kind != primitive::all_reduce && n.kind != primitive::all_gather;
    int const to = gives ? place_of_dim(n, c.split) : -1;
    int const from = takes ? place_of_dim(n, c.join) : -1;
    if ((gives && to < 0) || (takes && from < 0)) return "a collective along a dim that its operand does not have";
    int members = 0;
    for (int a = 0; a < m.axis_count; ++a) members += static_cast<int>(mask >> a & 1u);
    for (int a = 0; a < m.axis_count; ++a) {
      placement const &p = x.layout, &q = y.layout;
      if ((mask >> a & 1u) == 0) {
        if (p.sharded_at(a) != q.sharded_at(a) || p.order(a) != q.order(a) || p.part(a) != q.part(a))
          return "a collective changes another axis";
        continue;
      }
      if (p.part(a) != (reduces ? static_cast<reduction>(n.function) : reduction::none) || q.is_partial(a))
        return "a collective does not reduce what is partial";
      if (takes ? p.sharded_at(a) != from || p.order(a) < p.axes_of(from) - members : p.shards(a))
        return "a collective takes other than the minor end of a dim's axes";
      if (gives ? q.sharded_at(a) != to || q.order(a) < q.axes_of(to) - members : q.shards(a))
        return "a collective gives other than the minor end of a dim's axes";
    }
    return nullptr;
  }

  /// The position of a dim in a collective's operand, also if it is the dim of the enclosing loop. It is -1 if it is
  /// neither.
  constexpr int place_of_dim(node const& n, dim_id dim) const {
    if (int const at = m.operand_value(n, 0).dims.find(dim); at >= 0) return at;
    node_id const owner = node_owning(m, n.region);
    bool const is_loop = owner != no_id && m.nodes[owner].kind == primitive::repeat;
    return is_loop && loop::of(m.nodes[owner]).dim == dim ? placement::of_loop : -1;
  }
  static constexpr bool is_held_by_one(placement const& p) { return p.axes_of(placement::of_loop) != 0; }

  constexpr char const* check_move(node const& n, value const& x, value const& y) const {
    move_attributes const a = move_attributes::of(n);
    if (a.axes != axes_between(x.layout, y.layout, changed_dim(x.dims, a)))
      return "a move is over other axes than those that change";
    for (int axis = 0; axis < m.axis_count; ++axis) {
      if ((a.axes >> axis & 1u) != 0 && (x.layout.is_partial(axis) || y.layout.is_partial(axis)))
        return "a move over an axis over which a value is partial";
      if (x.layout.part(axis) != y.layout.part(axis)) return "a move does not reduce what is partial";
    }
    return nullptr;
  }

  // Rows move among the ranks that exchange them. Each of these ranks must know the counts of all of them.
  constexpr char const* check_move_rows(node const& n, value const& x, value const& y) const {
    move_rows_attributes const a = move_rows_attributes::of(n);
    auto const of = row_holders::unpacked(m.dims[a.holders].value);
    if (a.axes != of.exchange_mask()) return "rows move over other axes than those of their exchange";
    if (!(x.layout == y.layout)) return "an exchange of rows changes a placement";
    placement const &rows = x.layout, &counts = m.operand_value(n, 1).layout;
    int const place = x.dims.find(a.holders);
    for (int axis = 0; axis < m.axis_count; ++axis) {
      bool const holds = (of.axes >> axis & 1u) != 0, exchanges = (a.axes >> axis & 1u) != 0;
      if ((rows.sharded_at(axis) == place) != holds) return "rows do not lie on their holders";
      if (counts.is_partial(axis) || (counts.sharded_at(axis) == 0) != (holds && !exchanges) ||
          (counts.shards(axis) && counts.sharded_at(axis) != 0))
        return "a rank does not know the counts of all that it exchanges rows with";
    }
    return nullptr;
  }

  // ---- regions ----

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
      if (is_whole_on_one(inner, a)) inner.set_part(a, outer.part(a));
    return inner == outer;
  }

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
};

}  // namespace detail

/// The first fault in the placements of a partitioned module as a sentence of code S40, or nothing.
constexpr diagnostic verify_layout(module const& m) {
  return m.report.empty() ? detail::layout_verifier(m).found : m.report;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
