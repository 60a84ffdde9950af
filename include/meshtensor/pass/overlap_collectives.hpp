// SPDX-License-Identifier: Apache-2.0
// Splits every collective into a start and a wait, and moves them apart.
// before: fused.  after: a collective starts as soon as its operand is ready, and its wait comes just before the first
// use of its result. If a loop stacks the result, the wait comes after the loop. If a loop takes a slice from a stack,
// the slice is gathered one iteration ahead.
// why: communication that overlaps computation costs nothing. All ranks have the same order, so there is no deadlock.
#pragma once

#include "meshtensor/pass/rebuild.hpp"
#include "meshtensor/pass/schedule.hpp"

namespace meshtensor {
namespace detail {

struct overlapper {
  meshtensor::module const& from;
  rebuild w;
  id first_use[max_values];  // of a collective's result: the first node that uses it, plus 1
  bool used_twice[max_values];
  bool stacked[max_values];  // whether a loop's body returns it as a slice to stack
  id follows[max_nodes];     // the first collective that starts after a node, plus 1
  id next[max_nodes];        // the next collective that starts after the same node, plus 1
  id awaited[max_nodes];     // the first value to wait for before a node, plus 1
  id next_awaited[max_values];

  constexpr overlapper(module const& source, module& target)
      : from(source),
        w(source, target),
        first_use{},
        used_twice{},
        stacked{},
        follows{},
        next{},
        awaited{},
        next_awaited{} {
    find_uses();
    find_places();
    for (int i = 0; i < from.node_count && w.m.report.empty(); ++i) {
      for (id v = awaited[i]; v != 0; v = next_awaited[v - 1]) wait(static_cast<value_id>(v - 1));
      node const& n = from.nodes[i];
      if (!is_collective(n.kind) || !starts_early(n)) w.copy(n);
      for (id c = follows[i]; c != 0; c = next[c - 1]) begin(from.nodes[c - 1]);
    }
  }

 private:
  /// Whether a collective starts right after the node that computes its operand. It does not if that node is a
  /// collective, a loop whose result is still in flight, or a node of another region. It also does not if it needs
  /// another operand.
  constexpr bool starts_early(node const& n) const {
    if (n.kind == primitive::move_rows) return false;
    value const& x = from.operand_value(n, 0);
    node const& maker = from.nodes[x.node];
    if (is_collective(maker.kind) || maker.region != n.region) return false;
    return maker.kind != primitive::repeat || !is_left_on_its_way(maker, x.index);
  }
  constexpr bool is_left_on_its_way(node const& owner, int result) const {
    node const& last = from.nodes[from.values[from.link(from.regions[from.region_of(owner, 0)].results, result)].node];
    return is_collective(last.kind) && ends_late(last);
  }

  /// Whether a collective may end after the loop. It must be an all_reduce in place, in the stacked slice, and nothing
  /// else may read the slice before the loop ends, under any alias.
  constexpr bool ends_late(node const& n) const {
    value_id const result = from.result(n);
    if (n.kind != primitive::all_reduce || !starts_early(n) || !stacked[result] || used_twice[result]) return false;
    value_id v = from.operand(n, 0);
    while (!used_twice[v] && shares_memory(from.nodes[from.values[v].node]))
      v = from.operand(from.nodes[from.values[v].node], 0);
    node const& maker = from.nodes[from.values[v].node];
    return !used_twice[v] && maker.region == n.region && maker.kind != primitive::repeat &&
           !is_collective(maker.kind) &&  // nor an argument, because a loop's arguments are never partial
           !loop::of(from.nodes[node_owning(from, n.region)]).ends_early;
  }

  /// Whether a collective may start one iteration ahead. It must gather a slice of the loop's stacked operand, only for
  /// the body.
  constexpr bool may_start_ahead(node const& n) const {
    node const& maker = from.nodes[from.operand_value(n, 0).node];
    id const user = first_use[from.result(n)];
    if (n.kind != primitive::all_gather || maker.kind != primitive::argument || maker.region != n.region) return false;
    if (used_twice[from.operand(n, 0)] || user == 0) return false;
    node_id const owner = node_owning(from, n.region);
    node const& o = from.nodes[owner];
    loop const l = loop::of(o);
    int const place = place_of(maker);
    return o.kind == primitive::repeat && !l.ends_early && place >= l.carries && place < l.carries + l.stacked &&
           user != owner + 1;
  }

  constexpr void use(value_id v, int by) {
    used_twice[v] = first_use[v] != 0;
    first_use[v] = static_cast<id>(by + 1);
  }
  constexpr void find_uses() {
    node_id owner[max_regions] = {};
    for (int i = from.node_count; i-- > 0;) {
      node const& n = from.nodes[i];
      for (int k = 0; k < n.regions.count; ++k) owner[from.region_of(n, k)] = static_cast<node_id>(i);
    }
    for (int r = 0; r < from.region_count; ++r) {
      list const results = from.regions[r].results;
      node const& n = from.nodes[owner[r]];
      loop const l = loop::of(n);
      for (int k = 0; k < results.count; ++k) {
        use(from.link(results, k), owner[r]);
        stacked[from.link(results, k)] = n.kind == primitive::repeat && k >= l.carries + l.sums;
      }
    }
    for (int i = from.node_count; i-- > 0;)
      for (int k = 0; k < from.nodes[i].operands.count; ++k) use(from.operand(from.nodes[i], k), i);
  }
  /// Places the wait for `v`, which is a collective's result or the stack of such results.
  constexpr void await(value_id v) {
    id const at = first_use[v];
    if (at != 0) next_awaited[v] = awaited[at - 1], awaited[at - 1] = static_cast<id>(v + 1);
  }
  constexpr void find_places() {
    for (int i = from.node_count; i-- > 0;) {
      node const& n = from.nodes[i];
      if (n.kind == primitive::repeat) {
        list const results = from.regions[from.region_of(n, 0)].results;
        for (int k = results.count; k-- > 0;)
          if (is_left_on_its_way(n, k)) await(from.result(n, k));
      }
      if (!is_collective(n.kind)) continue;
      int const maker = from.operand_value(n, 0).node;
      if (starts_early(n)) next[i] = follows[maker], follows[maker] = static_cast<id>(i + 1);
      if (!ends_late(n)) await(from.result(n));
    }
  }

  constexpr void begin(node const& n) {
    node_id const made = w.copy(n);
    collective_attributes c = collective_attributes::of(n);
    c.ends_behind_loop = ends_late(n), c.starts_ahead = may_start_ahead(n);
    if (!c.ends_behind_loop && !c.starts_ahead) return;
    set_attributes(w.m.nodes[made], c.packed());
  }
  constexpr void wait(value_id v) {
    node const& n = from.nodes[from.values[v].node];
    value_id const started = w[v];
    w.enter(n);
    value_id const operands[] = {started, is_collective(n.kind) ? w[from.operand(n, 0)] : started};
    value const made = w.m.values[started];
    value_id const done = w.b.add(primitive::wait, 0, operands, made.type, made.dims);
    w.m.values[done].layout = made.layout, w.m.values[done].origin = made.origin;
    w.replace(v, done);
  }
};

}  // namespace detail

/// Counts the collectives that are in flight while another instruction runs.
constexpr int count_overlapped(module const& m, order const& steps) {
  int overlapped = 0;
  for (int r = 0; r < m.region_count; ++r)
    for (int i = 0; i < steps.count[r]; ++i) {
      node const& n = m.nodes[steps.nodes[steps.first[r] + i]];
      if (!is_collective(n.kind)) continue;
      bool runs_beside = ends_behind_loop(n), waits = false;
      for (int k = i + 1; k < steps.count[r] && !runs_beside && !waits; ++k) {
        node const& next = m.nodes[steps.nodes[steps.first[r] + k]];
        waits = next.kind == primitive::wait && m.operand(next, 0) == m.result(n);
        runs_beside = !shares_memory(next) && next.kind != primitive::argument;
      }
      overlapped += runs_beside;
    }
  return overlapped;
}

/// The module in which each collective is split into start and wait.
constexpr module overlap_collectives(module const& m) {
  meshtensor::module result{};
  if (!m.report.empty()) result.report = m.report;
  else detail::overlapper(m, result);
  return result;
}

}  // namespace meshtensor
