// SPDX-License-Identifier: Apache-2.0
// Holds a program on whole tensors and the program of one rank that is made from it. An operation's own `partition`
// gets this struct.
#pragma once

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/pass/bind/implied.hpp"
#include "meshtensor/pass/partition/placed_copies.hpp"
#include "meshtensor/pass/partition/reduced_uses.hpp"
#include "meshtensor/pass/partition/stacks_between_loops.hpp"

namespace meshtensor::detail {

struct partitioning {
  meshtensor::module const& from;
  meshtensor::module& m;
  diagnostic& report;
  builder b;
  placed_copies copies;
  implied_layout layout;
  reduced_uses reduced{};
  stacks_between_loops between_loops{};

  constexpr partitioning(module const& source, module& target, layout_rules const& rules)
      : from(source), m(target), report(target.report), b(target), copies(b), layout(target, rules, target.report) {
    reduced.find(source), between_loops.find(source);
  }

  /// The implied placement of an old value, for a node that produces or uses it.
  constexpr placement implied(value_id old, node const& n, shape const& whole = {}) {
    return settle(from.values[old].dims, n.path, whole, &n);
  }
  /// A placement in which each axis shards at most one dim. It is for a node or, if `n` is null, for the variable at a
  /// path.
  constexpr placement settle(shape const& dims, path_id path, shape const& whole, node const* n) {
    bool contested = false;
    placement const p = layout.of(dims, path, whole, &contested);
    if (!contested) return p;
    for (int a = 0; a < m.axis_count; ++a) {
      diagnostic d = layout.conflict(a, dims, path, whole);
      if (d.empty()) continue;
      if (n != nullptr) at_line(d, *n);
      else add_path(d << " (the parameter or state '", m, path) << "')";
      conflict(a, d);
    }
    return layout.settled(dims, path, whole);
  }
  /// Reports that two dims claim one axis. An axis of size 1 shards neither, so this is no error. If the size is not
  /// known yet, `bind` checks it.
  constexpr void conflict(int axis, diagnostic const& d) {
    axis_row& row = m.axes[axis];
    if (row.extent > 1 && report.empty()) report = d;
    if (row.extent == 0 && row.conflict.empty()) row.conflict = d;
  }
  constexpr void at_line(node const& n) { at_line(report, n); }
  constexpr void at_line(diagnostic& d, node const& n) const {
    add_operation(d << " (", from, n);
    if (n.site != no_id) d << ", " << file_name(from.sites[n.site]) << ":" << from.sites[n.site].line;
    d << ")";
  }

  constexpr node_id make(node const& n, id_list<> const& operands) {
    node_id const made = b.add_node(n.kind, n.function, operands, attributes_of(n));
    m.nodes[made].effect = n.effect, m.nodes[made].ordinal = n.ordinal, m.nodes[made].copy = n.copy;
    return made;
  }
  constexpr void give(node_id made, value_id old, placement const& p) {
    value const& v = from.values[old];
    value_id const r = b.add_result(made, v.type, v.dims);
    m.values[r].layout = p, m.values[r].origin = static_cast<id>(old + 1);
    copies.define(old, r);
  }

  // ---- building blocks of an operation's own `partition` ----

  /// The placement of an operand that the layout implies.
  constexpr placement implied_of(node const& n, int operand) { return implied(from.operand(n, operand), n); }
  constexpr placement implied_result(node const& n) { return implied(from.result(n), n); }
  /// An operand in placement `p`, resharded if needed.
  constexpr value_id placed_operand(node const& n, int operand, placement const& p) {
    return copies.copy_at(from.operand(n, operand), p);
  }
  /// Sets the placement of a new value and returns the value.
  constexpr value_id placed(value_id v, placement const& p) {
    m.values[v].layout = p;
    return v;
  }
  /// Reshards a new value to placement `p` by adding collectives.
  constexpr value_id resharded(value_id v, placement const& p) { return reshard(b, v, p); }
  /// Makes a new value the result of node `n`.
  constexpr void gives(node const& n, value_id v) {
    m.values[v].origin = static_cast<id>(from.result(n) + 1);
    copies.define(from.result(n), v);
  }
  struct block_dims {
    dim_id blocks, inner;
  };
  /// The two dims into which `dim`, at position `place` of a value in placement `p`, can be split. `blocks` counts its
  /// shards, and `inner` counts the elements of one shard. The same axes always give the same two dims.
  constexpr block_dims dims_of_blocks(int dim, placement const& p, int place) {
    std::int64_t mask = 0;
    for (int a = 0; a < max_axes; ++a)
      if (p.sharded_at(a) == place) mask |= std::int64_t{1} << a;
    for (int d = from.dim_count; d + 1 < m.dim_count; ++d)
      if (m.dims[d].kind == dim_row::blocks && m.dims[d].first == dim && m.dims[d].value == mask)
        return {static_cast<dim_id>(d), static_cast<dim_id>(d + 1)};
    auto const of = static_cast<dim_id>(dim);
    dim_id const blocks = b.add_dim({dim_row::blocks, b.own_label(of, "blocks"), of, no_id, mask});
    return {blocks, b.add_dim({dim_row::in_block, b.own_label(of, "in_block"), of, blocks, 0})};
  }

  /// The dim that counts the rows that each rank may send, for a dim of rows.
  constexpr dim_id dim_of_sent(dim_id rows) {
    for (int d = from.dim_count; d < m.dim_count; ++d)
      if (m.dims[d].kind == dim_row::sent && m.dims[d].first == rows) return static_cast<dim_id>(d);
    return b.add_dim({dim_row::sent, b.own_label(rows, "sent"), rows, no_id, 0});
  }
  /// Lets a partial sum stay partial over an axis that its placement `to` does not shard.
  constexpr void keep_partial_sum(node const& n, int operand, int axis, placement& to) {
    value_id const old = from.operand(n, operand);
    if (to.shards(axis) || reduced.of[old]) return;
    if (m.values[copies.cheapest_copy(old, to)].layout.part(axis) == reduction::sum) to.set_part(axis, reduction::sum);
  }
  /// Reports that two dims that one axis shards meet in an operation.
  constexpr void meet(node const& n, int a, int first, int second) {
    if (m.axes[a].extent == 1) return;
    diagnostic d{};
    d << "S05 mesh axis '" << m.names[m.axes[a].label] << "' shards two dims that meet in one operation, '"
      << m.dim_name(first) << "' and '" << m.dim_name(second) << "': ";
    layout.cure(d, second, n.path);
    at_line(d, n);
    conflict(a, d);
  }

  constexpr void refuse_two_exchanges(node const& n, dim_id groups) {
    report << "S05 rows are exchanged twice by '" << m.dim_name(groups)
           << "', over other axes the second time: give the second exchange groups of another name";
    at_line(n);
  }
};

}  // namespace meshtensor::detail
