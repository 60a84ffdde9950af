// SPDX-License-Identifier: Apache-2.0
// Schedules the nodes of every region: decides the order in which they run.
// before: partitioned, fused and bound.  after: one order, the same on every rank, because it depends only on global
// facts.
// why: a gradient takes memory until its parameter is updated.
#pragma once

#include "meshtensor/pass/schedule/hoisted_collectives.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The nodes of region r, in execution order: nodes[first[r]] … nodes[first[r] + count[r] - 1].
struct order {
  node_id nodes[max_nodes];
  id first[max_regions], count[max_regions];
};

namespace detail {

/// Finds the updates, which are nodes that are computed only for writes, and the places where they run. All other nodes
/// keep their order, and their place is their number, counted from 1. The place of an update is the place of the node
/// after which it runs, or 0 for the start. Collectives that start early count as updates, with what leads to them.
struct scheduler {
  meshtensor::module const& m;
  binding const& numbers;
  bool updates[max_nodes];
  bool early[max_nodes];  // of updates: collectives that start early, and the nodes that they need
  id place[max_nodes];
  id variable_of_value[max_values];  // the variable whose memory a value shares, plus 1
  id last_use[max_variables];        // the place of the last node, other than updates, that uses a variable's old value

  constexpr scheduler(module const& source, binding const& bound)
      : m(source), numbers(bound), updates{}, early{}, place{}, variable_of_value{}, last_use{} {
    find_updates();
    find_early();
    start_early();
    for (int i = 0; i < m.node_count; ++i) look(i);
    place_early();
    place_what_they_read();
  }

  /// Whether node `a` runs before node `b`.
  constexpr bool comes_before(int a, int b) const {
    if (place[a] != place[b]) return place[a] < place[b];
    return updates[a] == updates[b] ? a < b : updates[b];
  }

 private:
  constexpr bool is_in_entry(node const& n) const { return m.regions[n.region].kind == region_kind::entry; }
  /// Whether a node sends rows to other ranks by their sources, or waits for such rows.
  constexpr bool sends_permute(node const& n) const {
    return permutes(n) && numbers.members(axes_of_collective(n)) > 1;
  }
  constexpr bool awaits_permute(node const& n) const {
    return n.kind == primitive::wait && sends_permute(awaited(m, n));
  }
  /// Whether a node may run earlier than where it was made, because it waits for no other rank. A wait for permuted
  /// rows may move, too, but only behind the last permute.
  constexpr bool may_move(node const& n) const {
    if (n.effect || !is_in_entry(n)) return false;
    if (n.kind == primitive::wait) return numbers.is_alone(awaited(m, n)) || awaits_permute(n);
    if (is_collective(n.kind)) return numbers.is_alone(n);
    return n.kind == primitive::kernel || n.kind == primitive::read || shares_memory(n) ||
           declared(n.kind).fusion != fusion_role::none;
  }
  constexpr void find_updates() {
    bool stays[max_values] = {}, is_used[max_values] = {};  // by a node that keeps its place, or by any node
    for (int r = 0; r < m.region_count; ++r)
      for (int i = 0; i < m.regions[r].results.count; ++i) stays[m.link(m.regions[r].results, i)] = true;
    for (int i = m.node_count; i-- > 0;) {
      node const& n = m.nodes[i];
      bool any = false, all = may_move(n);
      for (int k = 0; k < n.results.count; ++k)
        any = any || is_used[m.result(n, k)], all = all && !stays[m.result(n, k)];
      updates[i] = any && all;
      for (int k = 0; k < n.operands.count; ++k) {
        value_id const v = m.operand(n, k);
        is_used[v] = true, stays[v] = stays[v] || !(updates[i] || n.kind == primitive::write);
      }
    }
  }
  /// Whether a node may run at the start of a step if its operands may.
  constexpr bool may_lead(node const& n) const {
    if (n.effect || !is_in_entry(n) || n.kind == primitive::write || n.kind == primitive::output) return false;
    if (n.kind == primitive::wait) return numbers.is_alone(awaited(m, n));
    if (is_collective(n.kind)) return numbers.is_alone(n) || permutes(n);
    return n.regions.count == 0 || n.kind == primitive::kernel;
  }
  constexpr value_id sources_of(node const& permute) const { return m.operand(permute, 1); }
  /// Permutes start first if they need only variables, inputs and what is computed from them without other ranks and
  /// without loops. Then their rows travel during the whole step. Permutes with the same sources may travel as one
  /// message. So if one of them needs more, all of them stay together.
  constexpr void find_early() {
    bool leads[max_nodes] = {}, wanted[max_nodes] = {}, stays[max_values] = {};
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      leads[i] = may_lead(n);
      for (int k = 0; k < n.operands.count; ++k) leads[i] = leads[i] && leads[m.values[m.operand(n, k)].node];
      if (sends_permute(n) && !leads[i]) stays[sources_of(n)] = true;
    }
    for (int i = m.node_count; i-- > 0;) {
      node const& n = m.nodes[i];
      wanted[i] = wanted[i] || (sends_permute(n) && !stays[sources_of(n)]);
      if (!wanted[i]) continue;
      updates[i] = early[i] = true;
      for (int k = 0; k < n.operands.count; ++k) wanted[m.values[m.operand(n, k)].node] = true;
    }
  }
  /// Other collectives start as soon as their operands can be computed.
  constexpr void start_early() {
    bool may[max_nodes] = {}, any = false;
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      may[i] = !updates[i] && may_move(n) && !awaits_permute(n);
      any = any || (is_collective(n.kind) && !numbers.is_alone(n));
    }
    if (!any) return;
    hoisted_collectives const found(m, numbers, may, early);
    for (int i = 0; i < m.node_count; ++i)
      if (found.moves[i]) updates[i] = early[i] = true, place[i] = found.place[i];
  }
  constexpr void look(int i) {
    node const& n = m.nodes[i];
    if (!updates[i]) place[i] = static_cast<id>(i + 1);
    if (n.kind == primitive::read) variable_of_value[m.result(n)] = static_cast<id>(variable_of(n) + 1);
    if (n.kind == primitive::write) return;
    for (int k = 0; k < n.operands.count; ++k) {
      id const v = variable_of_value[m.operand(n, k)];
      if (v == 0) continue;
      if (!updates[i]) last_use[v - 1] = place[i];
      if (shares_memory(n)) variable_of_value[m.result(n)] = v;
    }
  }
  /// Places updates as early as possible: after the nodes that make their operands, and after the last use of the
  /// values that they replace. If they wait for permuted rows, they also run after the place where the last permute
  /// with the same sources was made. Therefore all permutes of a hop have started before the first wait, so they can
  /// travel as one message.
  constexpr void place_early() {
    id last_kept = 0, last_permute[max_values] = {};  // by sources
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (is_in_entry(n) && !updates[i] && n.kind != primitive::write) last_kept = place[i];
      if (is_in_entry(n) && sends_permute(n)) last_permute[sources_of(n)] = last_kept;
    }
    for (int i = 0; i < m.node_count; ++i)
      if (updates[i] && awaits_permute(m.nodes[i])) place[i] = last_permute[sources_of(awaited(m, m.nodes[i]))];
    for (int i = 0; i < m.node_count; ++i)
      if (node const& n = m.nodes[i]; n.kind == primitive::write)
        if (node_id const maker = m.values[m.operand(n, 0)].node; updates[maker] && !early[maker])
          place[maker] = later(place[maker], last_use[variable_of(n)]);
    for (int i = 0; i < m.node_count; ++i)
      for (int k = 0; updates[i] && k < m.nodes[i].operands.count; ++k)
        place[i] = later(place[i], place[m.values[m.operand(m.nodes[i], k)].node]);
  }
  /// If no result of an update is written to a variable, the update is delayed to the place of the first update that
  /// reads one. However, if its results take less memory than its operands, it stays early.
  constexpr void place_what_they_read() {
    id first_use[max_values] = {};  // a place, plus 1
    bool is_written[max_values] = {};
    for (int i = m.node_count; i-- > 0;) {
      node const& n = m.nodes[i];
      if (n.kind == primitive::write) is_written[m.operand(n, 0)] = true;
      if (!updates[i] || early[i]) continue;
      id first = 0;
      for (int k = 0; k < n.results.count; ++k) {
        value_id const v = m.result(n, k);
        first = earlier(first, is_written[v] ? static_cast<id>(place[i] + 1) : first_use[v]);
      }
      if (first > place[i] + 1 && !gives_less(n)) place[i] = static_cast<id>(first - 1);
      for (int k = 0; k < n.operands.count; ++k)
        first_use[m.operand(n, k)] = earlier(first_use[m.operand(n, k)], static_cast<id>(place[i] + 1));
    }
  }
  /// Whether the results of a node take less memory than an operand that the step computes.
  constexpr bool gives_less(node const& n) const {
    std::int64_t given = 0, read = 0;
    for (int k = 0; k < n.results.count; ++k) given += numbers.local_bytes(m.values[m.result(n, k)]);
    for (int k = 0; k < n.operands.count; ++k) {
      value_id const v = m.operand(n, k);
      if (variable_of_value[v] != 0 || m.nodes[m.values[v].node].kind == primitive::input) continue;
      if (std::int64_t const bytes = numbers.local_bytes(m.values[v]); bytes > read) read = bytes;
    }
    return given < read;
  }
  static constexpr id later(id a, id b) { return a < b ? b : a; }
  static constexpr id earlier(id a, id b) { return a == 0 || (b != 0 && b < a) ? b : a; }  // 0 stands for none
};

}  // namespace detail

/// The order in which nodes run. Nodes run in the order in which they were made, but updates run as early as possible.
/// Writes follow as soon as the old value of the variable is no longer needed. Therefore a gradient lives only until
/// its update.
constexpr order schedule(module const& m, binding const& numbers) {
  order o{};
  detail::scheduler const s(m, numbers);
  id last_update[max_variables] = {};                                // the last update that reads a variable, plus 1
  id next_write[max_nodes] = {}, first_write[max_nodes] = {};        // the writes that follow a node, plus 1
  id next_update[max_nodes] = {}, first_update[max_nodes + 1] = {};  // the updates at a place, plus 1
  for (int i = 0; i < m.node_count; ++i)
    for (int k = 0; s.updates[i] && k < m.nodes[i].operands.count; ++k)
      if (id const v = s.variable_of_value[m.operand(m.nodes[i], k)]; v != 0)
        if (id& last = last_update[v - 1]; last == 0 || s.comes_before(last - 1, i)) last = static_cast<id>(i + 1);
  for (int i = m.node_count; i-- > 0;) {
    node const& n = m.nodes[i];
    if (n.kind == primitive::write) {
      int after = m.values[m.operand(n, 0)].node;
      for (id const other : {s.last_use[variable_of(n)], last_update[variable_of(n)]})
        if (other != 0 && s.comes_before(after, other - 1)) after = other - 1;
      next_write[i] = first_write[after], first_write[after] = static_cast<id>(i + 1);
    } else if (s.updates[i]) {
      next_update[i] = first_update[s.place[i]], first_update[s.place[i]] = static_cast<id>(i + 1);
    }
  }
  for (int i = 0; i < m.node_count; ++i) ++o.count[m.nodes[i].region];
  int total = 0;
  for (int r = 0; r < m.region_count; ++r) {
    o.first[r] = static_cast<id>(total);
    total += o.count[r];
    o.count[r] = 0;
  }
  auto const put = [&](int i) {
    int const r = m.nodes[i].region;
    o.nodes[o.first[r] + o.count[r]++] = static_cast<node_id>(i);
  };
  auto const put_with_writes = [&](int i) {
    put(i);
    for (id w = first_write[i]; w != 0; w = next_write[w - 1]) put(w - 1);
  };
  auto const put_updates = [&](int at) {
    for (id u = first_update[at]; u != 0; u = next_update[u - 1]) put_with_writes(u - 1);
  };
  put_updates(0);
  for (int i = 0; i < m.node_count; ++i) {
    if (m.nodes[i].kind == primitive::write || s.updates[i]) continue;
    put_with_writes(i);
    put_updates(i + 1);
  }
  return o;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
