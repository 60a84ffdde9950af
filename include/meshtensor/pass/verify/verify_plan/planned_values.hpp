// SPDX-License-Identifier: Apache-2.0
// Follows the address and content of each value while a plan is simulated.
#pragma once

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/pass/plan_memory/liveness.hpp"
#include "meshtensor/pass/verify/contents.hpp"
#include "meshtensor/pass/verify/verify_waits.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

struct planned_values {
  meshtensor::module const& m;
  plan const& p;
  graph_check found;
  planned_contents memory;
  node_id now;                               // the node that runs
  std::int64_t at[max_values];               // of roots: the address
  std::int64_t length[max_values];           // in bytes, plus 1, or 0 if it is not computed yet
  planned_contents::content of[max_values];  // the content that a value's memory must have when it is read
  planned_contents::content initial[max_variables], last[max_variables];  // of a variable: before and after the step
  bool is_written[max_variables];
  bool is_elsewhere[max_values];  // whether another rank holds this iteration's slice

  constexpr planned_values(module const& source, plan const& planned)
      : m(source),
        p(planned),
        found{},
        memory(planned.arena_bytes),
        now{},
        at{},
        length{},
        of{},
        initial{},
        last{},
        is_written{},
        is_elsewhere{} {
    for (int v = 0; v < m.value_count; ++v) at[v] = p.offset[v];
  }

 protected:
  using content = planned_contents::content;
  using range = planned_contents::range;

  constexpr void say(char const* fault, node_id which) {
    if (!found.report.empty()) return;
    found.report << "G41 " << fault;
    locate(found.report, m, m.nodes[which]);
  }

  // Addresses: first the arena, then a range for each variable and input.
  static constexpr std::int64_t of_variable(int v) { return (std::int64_t{1} << 60) + (std::int64_t{v} << 44); }
  static constexpr std::int64_t of_input(int which) { return (std::int64_t{1} << 61) + (std::int64_t{which} << 44); }

  constexpr value_id root(value_id v) const { return p.root[v]; }
  constexpr bool is_placed(value_id v, place where) const { return p.where[root(v)] == where; }
  constexpr std::int64_t bytes(value_id v) {
    if (length[v] == 0) length[v] = p.numbers.local_bytes(m.values[v]) + 1;
    return length[v] - 1;
  }
  constexpr range where(value_id v) {
    while (is_placed(v, place::strided_slice)) v = m.operand(m.nodes[m.values[root(v)].node], 0);
    return {at[root(v)], at[root(v)] + bytes(v)};
  }

  constexpr void read(value_id v) {
    if (is_elsewhere[v]) return;
    if (memory.is_arriving(where(v))) return say("the result of a collective is read before the wait for it", now);
    if (!memory.holds(of[v])) say("a value is read after its buffer was overwritten", now);
  }
  constexpr void write(range r) {
    if (memory.is_in_flight(r)) say("the memory of a collective is written before the wait for it", now);
    memory.overwrite(r);
  }
  constexpr void write(value_id v) {
    write(where(v));
    of[v] = memory.add(where(v));
  }
  constexpr void rename(value_id v, value_id as) {
    if (root(v) != root(as)) return say("an alias has another address than its value", now);
    of[v] = of[as];
  }
  /// Copies a value to another address. At the same address, it renames the value.
  constexpr void copy(value_id to, value_id v) {
    if (at[root(to)] == at[root(v)]) {
      of[to] = of[v];
      return;
    }
    read(v);
    write(to);
  }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
