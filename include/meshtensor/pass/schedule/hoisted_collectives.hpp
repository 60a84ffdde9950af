// SPDX-License-Identifier: Apache-2.0
// Moves collectives up, together with the kernels that lead to them. For example, a mean over replicas computes a sum
// before its all_reduce. Both move to the place behind the gradient that they need.
// before: bound.  after: such collectives start as soon as their operands can be computed.
// why: a collective that starts earlier travels longer beside other work.
#pragma once

#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/bind/binding.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// Whether a node's result is an alias of its operand.
constexpr bool shares_memory(node const& n) {
  return declared(n.kind).buffer == buffer_use::shared || applies(n, function::stop_gradient);
}

namespace detail {

/// Finds the nodes of the entry that move up. The place of a node is its number, counted from 1. The place of a node
/// that moves is the place of the node after which it runs, or 0 for the start of the step.
struct hoisted_collectives {
  meshtensor::module const& m;
  binding const& numbers;
  bool moves[max_nodes];
  id place[max_nodes];

  /// `may_move` are the nodes that may run before other nodes, and `early` are the ones that already do.
  constexpr hoisted_collectives(module const& source, binding const& bound, bool const* may_move, bool const* early)
      : m(source),
        numbers(bound),
        moves{},
        place{},
        ready{},
        works{},
        members{},
        uses{},
        uses_inside{},
        member_of{},
        counted_by{} {
    find_uses();
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      works[i + 1] = static_cast<id>(works[i] + does_work(n));
      place[i] = ready[i] = static_cast<id>(early[i] ? 0 : i + 1);
      if (early[i]) continue;
      if (may_move[i]) ready[i] = when_ready(n);
      else if (is_collective(n.kind) && !numbers.is_alone(n) && is_in_entry(n) && !n.effect && !permutes(n)) visit(i);
    }
  }

 private:
  /// The extra bytes that are always allowed. Such messages are short, so their latency is most of their time.
  static constexpr std::int64_t small = 16 << 10;

  id ready[max_nodes];                              // the earliest place at which a node can run
  id works[max_nodes + 1];                          // how many of the nodes before one compute something
  id_list<max_nodes, node_id> members;              // the collective in question and the nodes that move with it
  id uses[max_values], uses_inside[max_values];     // of a buffer: its users, and those that move with the collective
  id member_of[max_nodes], counted_by[max_values];  // the last collective for which `members`, `uses_inside` hold it

  constexpr bool is_in_entry(node const& n) const { return m.regions[n.region].kind == region_kind::entry; }
  constexpr node_id maker(node const& n, int operand) const { return m.values[m.operand(n, operand)].node; }
  constexpr bool renames(node const& n) const { return shares_memory(n) || numbers.is_alone(n); }
  constexpr bool does_work(node const& n) const {
    if (!is_in_entry(n) || renames(n) || is_collective(n.kind) || n.operands.count == 0) return false;
    return n.kind != primitive::write && n.kind != primitive::output;
  }
  /// The value whose buffer a value has.
  constexpr value_id buffer_of(value_id v) const {
    while (renames(m.nodes[m.values[v].node])) v = m.operand(m.nodes[m.values[v].node], 0);
    return v;
  }
  constexpr void find_uses() {
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (n.kind == primitive::wait && !renames_wait(n)) ++uses[buffer_of(m.operand(n, 1))];
      for (int k = 0; k < n.operands.count && !renames(n); ++k) ++uses[buffer_of(m.operand(n, k))];
    }
    for (int r = 0; r < m.region_count; ++r)
      for (int i = 0; i < m.regions[r].results.count; ++i) ++uses[buffer_of(m.link(m.regions[r].results, i))];
  }
  constexpr bool renames_wait(node const& n) const { return m.operand(n, 0) == m.operand(n, 1); }

  constexpr id when_ready(node const& n) const {
    id at = 0;
    for (int k = 0; k < n.operands.count; ++k)
      if (id const other = ready[maker(n, k)]; other > at) at = other;
    return at;
  }
  constexpr void visit(int collective) {
    id const at = when_ready(m.nodes[collective]);
    id const mark = static_cast<id>(collective + 1);
    members.count = 0, members.add(static_cast<node_id>(collective)), member_of[collective] = mark;
    int other_work = works[collective] - works[at];
    for (int next = 0; next < members.count; ++next) {
      node const& n = m.nodes[members.at[next]];
      for (int k = 0; k < n.operands.count; ++k) {
        node_id const other = maker(n, k);
        if (place[other] <= at || member_of[other] == mark) continue;
        members.add(other), member_of[other] = mark;
        other_work -= other >= at && does_work(m.nodes[other]);
      }
    }
    if (other_work <= 0 || takes_memory(mark)) return;
    for (int i = 0; i < members.count; ++i) moves[members.at[i]] = true, place[members.at[i]] = at;
  }

  constexpr std::int64_t bytes(value_id v) const { return numbers.local_bytes(m.values[v]); }
  /// Whether a buffer takes room during the step that it would not take otherwise.
  constexpr bool is_computed(value_id buffer) const {
    primitive const kind = m.nodes[m.values[buffer].node].kind;
    return kind != primitive::read && kind != primitive::input;
  }
  /// Whether the members would take much more memory at their new place. They hold the operand and the result of the
  /// collective until its end, and they release the values that only they use. A gradient may become twice as wide.
  constexpr bool takes_memory(id mark) {
    node const& c = m.nodes[members.at[0]];
    for (int i = 1; i < members.count; ++i) {
      node const& n = m.nodes[members.at[i]];
      for (int k = 0; k < n.operands.count && !renames(n); ++k) {
        value_id const v = buffer_of(m.operand(n, k));
        if (counted_by[v] != mark) counted_by[v] = mark, uses_inside[v] = 0;
        ++uses_inside[v];
      }
    }
    std::int64_t held = bytes(m.result(c)), released = 0;
    for (int i = 0; i < members.count; ++i) {
      node const& n = m.nodes[members.at[i]];
      for (int k = 0; k < n.results.count && i != 0 && !renames(n); ++k)
        if (value_id const v = m.result(n, k); counted_by[v] != mark || uses_inside[v] < uses[v]) held += bytes(v);
      for (int k = 0; k < n.operands.count; ++k) {
        value_id const v = buffer_of(m.operand(n, k));
        if (member_of[m.values[v].node] == mark || !is_computed(v)) continue;
        if (i == 0) released += bytes(v);  // it stays as long as before
        else if (counted_by[v] == mark && uses_inside[v] == uses[v]) released += 4 * bytes(v), uses_inside[v] = 0;
      }
    }
    return held > released + small;
  }
};

}  // namespace detail
}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
