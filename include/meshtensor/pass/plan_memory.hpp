// SPDX-License-Identifier: Apache-2.0
// Plans memory: gives every value a place and an offset in it, so that a steady step allocates nothing.
// before: bound and scheduled.  after: offsets in one arena, its size, and the node at which it is fullest.
#pragma once

#include "meshtensor/pass/join_collectives.hpp"
#include "meshtensor/pass/plan_memory/buffer_reuse.hpp"
#include "meshtensor/pass/plan_memory/free_list.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {

struct planner {
  meshtensor::module const& m;
  plan& p;
  liveness life;
  buffer_reuse reuse;
  bool surveying;
  node_id event_node[max_nodes];

  constexpr planner(module const& source, plan& target)
      : m(source), p(target), life(source, target), reuse(source, life), surveying(true), event_node{} {}

  /// Surveys the live ranges first. In a second walk, values reuse the buffers of dead values.
  constexpr void run(int entry) {
    walk(entry);
    reuse.find(entry);
    surveying = false;
    walk(entry);
    place_all();
  }
  constexpr void walk(int entry) {
    life.start();
    region(static_cast<region_id>(entry));
  }

  constexpr void live_in(value_id v, place where) {
    p.where[v] = where;
    life.touch(v);
  }

  constexpr void region(region_id r) {
    for (int i = 0; i < p.steps.count[r]; ++i) step(p.steps.nodes[p.steps.first[r] + i]);
  }

  constexpr void step(node_id which) {
    node const& n = m.nodes[which];
    if (n.kind == primitive::argument) return;
    ++life.now;
    if (life.now < max_nodes) event_node[life.now] = which;
    for (int i = 0; i < n.operands.count; ++i) life.look(m.operand(n, i));
    switch (n.kind) {
      case primitive::input: live_in(m.result(n), place::input); return;
      case primitive::read: live_in(m.result(n), place::variable); return;
      case primitive::repeat: return repeat(n);
      case primitive::composite: return is_whole(n) ? kernel(n) : call(n);
      case primitive::kernel: return kernel(n);
      default: break;
    }
    if (life.is_strided_slice(n)) {
      life.within[m.result(n)] = static_cast<id>(m.operand(n, 0) + 1);
      return live_in(m.result(n), place::strided_slice);
    }
    if (starts_ahead(p.numbers, n)) return life.touch(m.result(n));  // it has its place since the loop began
    if (life.renames(n)) {
      life.same(m.result(n), m.operand(n, 0));
      return life.touch(m.result(n));
    }
    for (int i = 0; i < n.results.count; ++i) give(m.result(n, i));
  }

  /// Puts a value into its stack's slice or into the buffer that it reuses, if `find` has found one, otherwise into the
  /// arena.
  constexpr void give(value_id v) {
    if (!surveying && reuse.fills[v]) return live_in(v, place::stack_slice);
    if (!surveying && reuse.next_value[v] != 0) {
      life.same(v, static_cast<value_id>(reuse.next_value[v] - 1));
      return life.touch(v);
    }
    live_in(v, place::arena);
  }
  /// Places the results of a kernel, or of a composite that the device runs whole. They may reuse the buffers of
  /// operands that die. The values inside have no memory.
  constexpr void kernel(node const& n) {
    unsigned dying = 0;
    if (!surveying)
      for (int k = 0; k < n.operands.count; ++k)
        if (reuse.last_use(m.operand(n, k)) == life.now && p.where[life.root(m.operand(n, k))] == place::arena)
          dying |= 1u << k;
    if (dying == 0) {
      for (int i = 0; i < n.results.count; ++i) give(m.result(n, i));
      return;
    }
    for (int i = 0; i < n.results.count; ++i) {
      value_id const v = m.result(n, i);
      unsigned const mask =
          reuse.next_value[v] != 0 || reuse.fills[v] || dying == 0 ? 0u : dying & reuse.may_overwrite(n, i);
      int k = 0;
      while (k < n.operands.count && (mask >> k & 1) == 0) ++k;
      if (k == n.operands.count) {
        give(v);
      } else {
        dying &= ~(1u << k);
        life.same(v, m.operand(n, k));
        life.touch(v);
      }
    }
  }

  constexpr void call(node const& n) {
    auto const& body = m.regions[m.region_of(n, 0)];
    for (int i = 0; i < n.operands.count; ++i) life.same(m.link(body.arguments, i), m.operand(n, i));
    region(m.region_of(n, 0));
    ++life.now;
    for (int i = 0; i < n.operands.count; ++i) life.touch(m.operand(n, i));
    for (int i = 0; i < n.results.count; ++i) {
      life.same(m.result(n, i), m.link(body.results, i));
      life.touch(m.result(n, i));
    }
  }

  /// Calls f(value) for each value that the body of a loop gathers one iteration ahead.
  template <class F>
  constexpr void each_ahead(node const& owner, F f) const {
    region_id const body = m.region_of(owner, 0);
    for (int i = 0; i < p.steps.count[body]; ++i)
      if (node const& n = m.nodes[p.steps.nodes[p.steps.first[body] + i]]; starts_ahead(p.numbers, n)) f(m.result(n));
  }

  /// Whether a loop's carry takes the memory of its first value. No other operand may be in this memory, and nothing
  /// may use it later.
  constexpr bool begins_in_place(node const& n, int carry) const {
    value_id const first = m.operand(n, carry);
    if (surveying || reuse.last_use(first) != life.now || p.where[life.root(first)] != place::arena) return false;
    for (int i = 0; i < n.operands.count; ++i)
      if (i != carry && life.root(m.operand(n, i)) == life.root(first)) return false;
    return true;
  }
  constexpr void repeat(node const& n) {
    loop const l = loop::of(n);
    auto const& body = m.regions[m.region_of(n, 0)];
    for (int i = 0; i < n.operands.count; ++i) {
      value_id const argument = m.link(body.arguments, i);
      if (i < l.carries) begins_in_place(n, i) ? life.same(argument, m.operand(n, i)) : live_in(argument, place::arena);
      else if (i < l.carries + l.stacked) live_in(argument, place::slice);
      else life.same(argument, m.operand(n, i));
    }
    for (int i = l.carries; i < n.results.count; ++i) give(m.result(n, i));
    each_ahead(n, [&](value_id v) { live_in(v, place::double_buffer); });
    region(m.region_of(n, 0));
    ++life.now;  // the end of an iteration, when its results are stored
    each_ahead(n, [&](value_id v) { life.touch(v); });
    for (int i = l.carries; i < n.operands.count; ++i) life.touch(m.operand(n, i));
    for (int i = 0; i < n.operands.count; ++i) life.touch(m.link(body.arguments, i));
    for (int i = 0; i < body.results.count; ++i) life.look(m.link(body.results, i));
    for (int i = 0; i < l.carries; ++i) {
      value_id const argument = m.link(body.arguments, i);
      life.read_inside[argument] = life.read[life.root(argument)];
    }
    for (int i = 0; i < n.results.count; ++i) {
      if (i < l.carries) life.same(m.result(n, i), m.link(body.arguments, i));
      life.touch(m.result(n, i));
    }
  }

  // Best fit, in the order in which values are born.
  free_list arena{};

  constexpr std::int64_t bytes(int v) const {
    return planned_bytes(p.numbers, m.values[v]) * (p.where[v] == place::double_buffer ? 2 : 1);
  }

  constexpr void place_all() {
    // Values by birth and by death, as linked lists.
    id born[max_nodes * 2] = {}, next_born[max_values] = {}, dies[max_nodes * 2] = {}, next_dying[max_values] = {};
    for (int v = m.value_count; v-- > 0;) {
      if (p.root[v] != v) continue;
      if (p.where[v] == place::variable) p.variable_bytes += p.numbers.local_bytes(m.values[v]);
      if (p.where[v] == place::input) p.input_bytes += p.numbers.local_bytes(m.values[v]);
      if (!is_in_arena(p.where[v])) continue;
      next_born[v] = born[life.begin[v]], born[life.begin[v]] = static_cast<id>(v + 1);
      if (life.end[v] <= life.now) next_dying[v] = dies[life.end[v]], dies[life.end[v]] = static_cast<id>(v + 1);
    }
    for (int t = 0; t <= life.now; ++t) {
      for (id v = born[t]; v != 0; v = next_born[v - 1]) {
        p.offset[v - 1] = arena.take(bytes(v - 1));
        if (p.offset[v - 1] + bytes(v - 1) > p.arena_bytes) {
          p.arena_bytes = p.offset[v - 1] + bytes(v - 1);
          p.fullest = t < max_nodes ? event_node[t] : 0;
        }
      }
      for (id v = dies[t]; v != 0; v = next_dying[v - 1])
        arena.give_back(p.offset[v - 1], p.offset[v - 1] + bytes(v - 1));
    }
    for (int v = 0; v < m.value_count; ++v) p.root[v] = life.root(static_cast<value_id>(v));
  }
};

}  // namespace detail

/// Plans the memory of one entry of a partitioned module. The plan is empty if the module has a report.
constexpr plan plan_memory(module const& m, int entry, binding const& numbers) {
  plan p{};
  p.numbers = numbers;
  if (!m.report.empty()) return p;
  p.steps = schedule(m, numbers);
  detail::planner planner(m, p);
  planner.run(entry);
  join_collectives(m, p);
  return p;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
