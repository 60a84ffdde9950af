// SPDX-License-Identifier: Apache-2.0
// Copies a module node by node. Passes that rewrite a module are based on it. For example:
//
//     module result{};
//     rebuild w(m, result);
//     for (int i = 0; i < m.node_count; ++i) {
//       node const& n = m.nodes[i];
//       if (is_needless(m, n)) w.replace(m.result(n), w[m.operand(n, 0)]);  // its users use another value
//       else if (!is_dead(m, n)) w.copy(n);                                 // neither: the node is removed
//     }
//
// If a pass adds nodes, it makes them with `w.b`. This builder has the region, path and line of the last node entered.
#pragma once

#include "meshtensor/graph/builder.hpp"
#include "meshtensor/graph/owner.hpp"

namespace meshtensor {

/// Maps one module to another. Numbers, dims, names, paths, lines and variables keep their ids. Nodes, values and
/// regions get new ids, in the old order.
struct rebuild {
  meshtensor::module const& from;
  meshtensor::module& m;
  builder b;
  bool const* wanted;       // by old value: whether a loop still returns it. Null stands for all values
  bool const* left_out;     // by old value: arguments that another value replaces. Null stands for none
  id called[max_values];    // by old value: its new id plus 1, or 0 if it has none
  id entered[max_regions];  // by old region: its new id plus 1, or 0 if it has none

  constexpr rebuild(module const& source, module& target)
      : from(source), m(target), b(target), wanted(nullptr), left_out(nullptr), called{}, entered{} {
    copy_tables(m, from);
  }

  /// The new id of an old value, or no_id if it has none.
  constexpr value_id operator[](value_id old) const { return static_cast<value_id>(called[old] - 1); }
  constexpr bool has(value_id old) const { return called[old] != 0; }

  /// The new id of an old region. The first call makes the region.
  constexpr region_id region_of(region_id old) {
    if (entered[old] == 0) {
      region const& r = from.regions[old];
      region_id const parent = r.parent == no_id ? no_id : region_of(r.parent);
      b.make_room(m.region_count, 1, max_regions, "G20", builder::region_rows);
      m.regions[m.region_count] = {r.kind, r.removed, r.label, parent, {}, {}};
      entered[old] = static_cast<id>(++m.region_count);
    }
    return static_cast<region_id>(entered[old] - 1);
  }

  /// Gives nodes that are made next the region, path and line of `n`.
  constexpr void enter(node const& n) {
    b.region = region_of(n.region), b.path = n.path, b.site = n.site, b.copy = n.copy;
    b.phase = n.phase, b.called = n.called;
  }

  /// Makes users of an old value use a new value from now on.
  constexpr void replace(value_id old, value_id made) { called[old] = static_cast<id>(made + 1); }

  /// Copies a node whose operands all have new ids, with its results and, if it owns regions, their lists. Arguments
  /// without a new id or in `left_out` are dropped together with their operands. Unwanted results are dropped, too.
  constexpr node_id copy(node const& n) {
    enter(n);
    if (n.regions.count != 0) return copy_owner(n);
    reserve(n.operands.count);
    list const operands{static_cast<id>(m.link_count), n.operands.count};
    for (int i = 0; i < n.operands.count; ++i) m.links[m.link_count++] = (*this)[from.operand(n, i)];
    return add(n, operands, from.links + n.results.first, n.results.count);
  }
  /// Does the same with other operands, given by their new ids.
  constexpr node_id copy(node const& n, ids operands) {
    enter(n);
    return add(n, b.add_links(operands), from.links + n.results.first, n.results.count);
  }

 private:
  constexpr bool stays(value_id argument) const {
    return has(argument) && (left_out == nullptr || !left_out[argument]);
  }

  constexpr void reserve(int links) {
    b.make_room(m.link_count, links, max_links, "G02", "operands and results, gradients included");
  }

  // Adds a node like `n` with these operands, and with results like the old values in `results`.
  constexpr node_id add(node const& n, list operands, id const* results, int count) {
    b.make_room(m.node_count, 1, max_nodes, "G02", "nodes, gradients included");
    b.make_room(m.value_count, count, max_values, "G02", "tensors, gradients included");
    reserve(count);
    node c = n;
    c.region = b.region, c.operands = operands, c.results = {static_cast<id>(m.link_count), static_cast<id>(count)},
    c.regions = {0, 0};
    for (int i = 0; i < count; ++i) {
      value v = from.values[results[i]];
      v.node = static_cast<node_id>(m.node_count), v.region = b.region, v.index = static_cast<id>(i);
      m.links[m.link_count++] = static_cast<id>(m.value_count);
      m.values[m.value_count++] = v;
      called[results[i]] = static_cast<id>(m.value_count);
    }
    m.nodes[m.node_count] = c;
    return static_cast<node_id>(m.node_count++);
  }

  constexpr node_id copy_owner(node const& n) {
    bool const trims = n.kind == primitive::repeat;
    loop const l = trims ? loop::of(n) : loop{};
    list const body = from.regions[from.region_of(n, 0)].arguments;

    // Operands are dropped with their arguments, carries as a whole, and other results if they are unwanted.
    constexpr int most = id_list<>::most;
    bool leaves[most] = {}, gives[most] = {};
    for (int p = 0; p < body.count && trims; ++p) leaves[p] = !stays(from.link(body, p));
    id_list<> operands{};
    id_list<most, id> results{};
    int carries = 0, stacked = 0, sums = 0;
    for (int i = 0; i < n.operands.count; ++i) {
      if (leaves[i]) continue;
      operands.add((*this)[from.operand(n, i)]);
      carries += i < l.carries, stacked += i >= l.carries && i < l.carries + l.stacked;
    }
    for (int i = 0; i < n.results.count; ++i) {
      gives[i] = !trims || (i < l.carries ? has(from.link(body, i)) : wanted == nullptr || wanted[from.result(n, i)]);
      if (!gives[i]) continue;
      results.add(from.result(n, i));
      sums += i >= l.carries && i < l.carries + l.sums;
    }

    node_id const made = add(n, b.add_links(operands), results.at, results.count);
    id_list<max_operands, region_id> owned{};
    for (int k = 0; k < n.regions.count; ++k) {
      region_id const old = from.region_of(n, k);
      if (k > 0 && !trims && entered[old] == 0) continue;  // the gradient of a composite that is no longer used
      owned.add(close(old, trims ? gives : nullptr));
    }
    node& c = m.nodes[made];
    c.regions = b.add_links(owned);
    if (trims) loop{l.dim, carries, stacked, sums, l.reversed, l.ends_early}.store(c);
    return made;
  }

  // Sets the lists of a complete region: the results, and the remaining arguments with new numbers.
  constexpr region_id close(region_id old, bool const* gives) {
    region_id const r = region_of(old);
    region const& was = from.regions[old];
    id_list<> arguments{}, results{};
    for (int i = 0; i < was.arguments.count; ++i) {
      if (!stays(from.link(was.arguments, i))) continue;
      value_id const v = (*this)[from.link(was.arguments, i)];
      set_place(m.nodes[m.values[v].node], arguments.count);
      arguments.add(v);
    }
    for (int i = 0; i < was.results.count; ++i)
      if (gives == nullptr || gives[i]) results.add((*this)[from.link(was.results, i)]);
    m.regions[r].arguments = b.add_links(arguments);
    m.regions[r].results = b.add_links(results);
    return r;
  }
};

}  // namespace meshtensor
