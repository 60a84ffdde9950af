// Gives every value its place: which memory, and where in it. A steady step allocates nothing.
// before: bound and scheduled.  after: offsets in one arena, its size, and what holds it at its fullest.
#pragma once

#include "meshtensor/pass/bind.hpp"
#include "meshtensor/pass/gaps.hpp"
#include "meshtensor/pass/read_kernel.hpp"
#include "meshtensor/pass/schedule.hpp"

namespace meshtensor {

enum class place : std::uint8_t {
  nowhere,   // never run
  arena,     // at an offset
  variable,  // the store's own memory
  input,     // what was fed
  slice,     // of a stacked operand: moves with the iteration
};

struct plan {
  binding numbers;
  order steps;
  id root[max_values];  // the value whose memory a value shares; itself: its own
  place where[max_values];
  std::int64_t offset[max_values];
  std::int64_t arena_bytes;
  std::int64_t variable_bytes, input_bytes;  // beside the arena, per processor
  int fullest;                               // the node at which the arena is fullest
};

namespace detail {

struct planner {
  static constexpr std::int64_t alignment = 64;
  module const& m;
  plan& p;
  int begin[max_values], end[max_values];  // of roots: first and last time of use
  int made[max_values], last[max_values];  // of values, in the survey
  id next_value[max_values];               // of a value that a write will store: the value read, plus 1
  std::uint16_t overwrites[max_values];    // of a kernel's result: the operands whose memory it may take
  bool is_read[max_nodes];                 // kernels whose results' `overwrites` are known
  bool surveying;
  int now;
  id event_node[max_nodes];

  constexpr planner(module const& source, plan& target)
      : m(source),
        p(target),
        begin{},
        end{},
        made{},
        last{},
        next_value{},
        overwrites{},
        is_read{},
        surveying(true),
        now(0),
        event_node{} {}

  /// A survey of when values are used, then the walk in which some take the memory of others that die.
  constexpr void run(int entry) {
    walk(entry);
    for (int v = 0; v < m.value_count; ++v) made[v] = begin[v], last[v] = end[root(static_cast<id>(v))];
    donate(entry);
    surveying = false;
    walk(entry);
    place_all();
  }
  constexpr void walk(int entry) {
    now = 0;
    for (int v = 0; v < m.value_count; ++v) p.root[v] = static_cast<id>(v), begin[v] = -1, end[v] = -1;
    region(static_cast<id>(entry));
  }

  constexpr id root(id v) {
    while (p.root[v] != v) v = p.root[v];
    return v;
  }
  constexpr void same(id v, id as) { p.root[v] = root(as); }
  constexpr void touch(id v) {
    id const r = root(v);
    if (begin[r] < 0) begin[r] = now;
    if (end[r] < now) end[r] = now;
  }
  constexpr void live_in(id v, place where) {
    p.where[v] = where;
    touch(v);
  }

  constexpr void region(id r) {
    for (int i = 0; i < p.steps.count[r]; ++i) step(p.steps.nodes[p.steps.first[r] + i]);
  }

  constexpr void step(id node_id) {
    node const& n = m.nodes[node_id];
    if (n.kind == primitive::argument) return;
    ++now;
    if (now < max_nodes) event_node[now] = node_id;
    for (int i = 0; i < n.operands.count; ++i) touch(m.operand(n, i));
    switch (n.kind) {
      case primitive::input: live_in(m.result(n), place::input); return;
      case primitive::read: live_in(m.result(n), place::variable); return;
      case primitive::repeat: return repeat(n);
      case primitive::composite: return call(n);
      case primitive::kernel: return kernel(n);
      default: break;
    }
    if (shares_memory(n)) {
      same(m.result(n), m.operand(n, 0));
      return touch(m.result(n));
    }
    for (int i = 0; i < n.results.count; ++i) give(m.result(n, i));
  }

  /// A result that a write will store lives where its variable does, if nothing needs the old value any more.
  constexpr void give(id v) {
    if (!surveying && next_value[v] != 0) {
      same(v, static_cast<id>(next_value[v] - 1));
      return touch(v);
    }
    live_in(v, place::arena);
  }
  constexpr void donate(int entry) {
    id read[max_variables] = {};  // the value, plus 1
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (n.region != entry) continue;
      if (n.kind == primitive::read)
        read[n.attribute[0]] = read[n.attribute[0]] == 0 ? static_cast<id>(m.result(n) + 1) : no_id;
      if (n.kind != primitive::write) continue;
      id const v = m.operand(n, 0), old = read[n.attribute[0]];
      node const& maker = m.nodes[m.values[v].node];
      bool const computed =
          maker.kind == primitive::kernel || (maker.kind >= primitive::constant && maker.kind < primitive::gradient);
      if (old == 0 || old == no_id || !computed || shares_memory(maker) || maker.region != entry || next_value[v] != 0)
        continue;
      id const r = static_cast<id>(old - 1);
      bool const last_there = last[r] == made[v] && maker.kind == primitive::kernel &&
                              (may_overwrite(maker, m.values[v].index) >> place_of(maker, r) & 1) != 0;
      if (last[r] < made[v] || last_there) next_value[v] = old;
    }
  }
  constexpr int place_of(node const& n, id v) const {
    for (int k = 0; k < n.operands.count; ++k)
      if (m.operand(n, k) == v) return k;
    return 31;
  }
  /// The operands whose memory a result of a kernel may take: read for the last time when it is written, and no other
  /// operand's memory.
  constexpr unsigned may_overwrite(node const& n, int result) {
    bool& known = is_read[m.values[m.result(n, 0)].node];
    if (!known) {
      kernel_reading const reading = read_kernel(m, n);
      for (int i = 0; i < n.results.count; ++i) overwrites[m.result(n, i)] = reading.overwrites[i];
      known = true;
    }
    unsigned mask = overwrites[m.result(n, result)];
    for (int i = 0; i < n.operands.count && mask != 0; ++i)
      for (int k = 0; k < i; ++k)
        if (root(m.operand(n, i)) == root(m.operand(n, k))) mask &= ~(1u << i | 1u << k);
    return mask;
  }

  /// The values inside a kernel have no memory.
  constexpr void kernel(node const& n) {
    unsigned dying = 0;
    if (!surveying)
      for (int k = 0; k < n.operands.count; ++k)
        if (last[m.operand(n, k)] == now && p.where[root(m.operand(n, k))] == place::arena) dying |= 1u << k;
    if (dying == 0) {
      for (int i = 0; i < n.results.count; ++i) give(m.result(n, i));
      return;
    }
    for (int i = 0; i < n.results.count; ++i) {
      id const v = m.result(n, i);
      unsigned const mask = next_value[v] != 0 || dying == 0 ? 0u : dying & may_overwrite(n, i);
      int k = 0;
      while (k < n.operands.count && (mask >> k & 1) == 0) ++k;
      if (k == n.operands.count) {
        give(v);
      } else {
        dying &= ~(1u << k);
        same(v, m.operand(n, k));
        touch(v);
      }
    }
  }

  constexpr void call(node const& n) {
    auto const& body = m.regions[m.region_of(n, 0)];
    for (int i = 0; i < n.operands.count; ++i) same(m.link(body.arguments, i), m.operand(n, i));
    region(m.region_of(n, 0));
    ++now;
    for (int i = 0; i < n.operands.count; ++i) touch(m.operand(n, i));
    for (int i = 0; i < n.results.count; ++i) {
      same(m.result(n, i), m.link(body.results, i));
      touch(m.result(n, i));
    }
  }

  constexpr void repeat(node const& n) {
    loop const l = loop::of(n);
    auto const& body = m.regions[m.region_of(n, 0)];
    for (int i = 0; i < n.operands.count; ++i) {
      id const argument = m.link(body.arguments, i);
      if (i < l.carries) live_in(argument, place::arena);
      else if (i < l.carries + l.stacked) live_in(argument, place::slice);
      else same(argument, m.operand(n, i));
    }
    for (int i = l.carries; i < n.results.count; ++i) live_in(m.result(n, i), place::arena);
    region(m.region_of(n, 0));
    ++now;  // the end of an iteration, when its results are put away
    for (int i = 0; i < n.operands.count; ++i) touch(m.operand(n, i)), touch(m.link(body.arguments, i));
    for (int i = 0; i < body.results.count; ++i) touch(m.link(body.results, i));
    for (int i = 0; i < n.results.count; ++i) {
      if (i < l.carries) same(m.result(n, i), m.link(body.arguments, i));
      touch(m.result(n, i));
    }
  }

  // The smallest gap that is large enough, in the order of birth.
  gaps arena{};

  constexpr std::int64_t bytes(int v) const {
    return (p.numbers.local_bytes(m.values[v]) + alignment - 1) / alignment * alignment;
  }

  constexpr void place_all() {
    // Values by time of birth and of death, as lists through the values.
    id born[max_nodes * 2] = {}, next_born[max_values] = {}, dies[max_nodes * 2] = {}, next_dying[max_values] = {};
    for (int v = m.value_count; v-- > 0;) {
      if (p.root[v] != v) continue;
      if (p.where[v] == place::variable) p.variable_bytes += p.numbers.local_bytes(m.values[v]);
      if (p.where[v] == place::input) p.input_bytes += p.numbers.local_bytes(m.values[v]);
      if (p.where[v] != place::arena) continue;
      next_born[v] = born[begin[v]], born[begin[v]] = static_cast<id>(v + 1);
      if (end[v] <= now) next_dying[v] = dies[end[v]], dies[end[v]] = static_cast<id>(v + 1);
    }
    for (int t = 0; t <= now; ++t) {
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
    for (int v = 0; v < m.value_count; ++v) p.root[v] = root(static_cast<id>(v));
  }
};

}  // namespace detail

/// The plan of one entry of a partitioned module.
constexpr plan plan_memory(module const& m, int entry, binding const& numbers) {
  plan p{};
  p.numbers = numbers;
  p.steps = schedule(m);
  detail::planner planner(m, p);
  planner.run(entry);
  return p;
}

}  // namespace meshtensor
