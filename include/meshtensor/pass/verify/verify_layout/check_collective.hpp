// SPDX-License-Identifier: Apache-2.0
// Checks that a collective changes the placement of its operand as it communicates.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/owner.hpp"
#include "meshtensor/op/detail/moved.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

struct collective_layout {
  meshtensor::module const& m;

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

 private:
  /// The position of a dim in a collective's operand, also if it is the dim of the enclosing loop. It is -1 if it is
  /// neither.
  constexpr int place_of_dim(node const& n, dim_id dim) const {
    if (int const at = m.operand_value(n, 0).dims.find(dim); at >= 0) return at;
    node_id const owner = node_owning(m, n.region);
    bool const is_loop = owner != no_id && m.nodes[owner].kind == primitive::repeat;
    return is_loop && loop::of(m.nodes[owner]).dim == dim ? placement::of_loop : -1;
  }

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

  // Rows move among the ranks that hold parts of their dim. Each rank must have all sources.
  constexpr char const* check_permuted(node const& n, move_rows_attributes const& a, value const& x,
                                       value const& y) const {
    if (!(x.layout == y.layout)) return "an exchange of rows changes a placement";
    placement const& sources = m.operand_value(n, 1).layout;
    int const place = x.dims.find(a.from);
    for (int axis = 0; axis < m.axis_count; ++axis) {
      if ((x.layout.sharded_at(axis) == place) != ((a.axes >> axis & 1u) != 0))
        return "rows move over other axes than those of their dim";
      if (!sources.is_replicated(axis)) return "a rank does not know the sources of all rows";
    }
    return nullptr;
  }

  // Rows move among the ranks that exchange them. Each of these ranks must know the counts of all of them.
  constexpr char const* check_move_rows(node const& n, value const& x, value const& y) const {
    move_rows_attributes const a = move_rows_attributes::of(n);
    if (a.how == row_move::by_sources) return check_permuted(n, a, x, y);
    auto const of = row_holders::unpacked(m.dims[a.holders].value);
    if (a.axes != of.group_mask()) return "rows move over other axes than those of their exchange";
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
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
