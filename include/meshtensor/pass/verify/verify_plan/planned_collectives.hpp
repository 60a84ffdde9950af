// SPDX-License-Identifier: Apache-2.0
// Follows the collectives in flight while a plan is simulated, from the start to the wait of each.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/owner.hpp"
#include "meshtensor/pass/plan_memory/liveness.hpp"
#include "meshtensor/pass/verify/verify_plan/planned_stacks.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

struct planned_collectives : planned_stacks {
  // For collectives that start one iteration ahead: the running iteration, the buffer of the first iteration's result
  // (0 or 1), the next iteration's slice, and the values that have arrived.
  std::int64_t turn, first_turn;
  planned_contents::content ahead[max_values], arrived[max_values];

  constexpr planned_collectives(module const& source, plan const& planned)
      : planned_stacks(source, planned), turn{}, first_turn{}, ahead{}, arrived{} {}

 protected:
  constexpr void start(node const& n) {
    value_id const x = m.operand(n, 0), y = m.result(n);
    node_id const started = now;
    if (p.numbers.is_alone(n)) return copy(y, x);
    if (starts_ahead(n)) return;
    begin(n, started);
  }
  constexpr void begin(node const& n, node_id started) {
    value_id const x = m.operand(n, 0), y = m.result(n);
    bool const goes_with_others = p.joined[started] != 0;
    if (!goes_with_others) end(started);
    read(x);
    for (int k = 1; k < n.operands.count; ++k) read(m.operand(n, k));  // at the start, and not later
    if (where(x).meets(where(y)) && (n.kind != primitive::all_reduce || at[root(x)] != at[root(y)]))
      return say("a collective writes its result over its operand", now);
    write(y);
    if (!memory.begin({started, !goes_with_others, is_elsewhere[x] ? range{} : where(x), where(y)}))
      return say("too many collectives are in flight for this check", now);
    if (p.joined[started] == started + 1) send(started);
    if (ends_behind_loop(n) && !is_placed(y, place::stack_slice)) end(started);
  }
  /// Sends a joint message after its last collective has started. Collectives of its previous run end before.
  constexpr void send(node_id last_one) {
    for (int i = memory.in_flight_count; i-- > 0;)
      if (auto& f = memory.in_flight[i]; p.joined[f.node] == last_one + 1 && f.is_sent) memory.end_at(i);
    for (int i = 0; i < memory.in_flight_count; ++i)
      if (auto& f = memory.in_flight[i]; p.joined[f.node] == last_one + 1) f.is_sent = true;
  }
  /// Ends a collective at its own wait, although all joined collectives arrive at the first of their waits.
  constexpr void end(node_id started) {
    for (int i = memory.in_flight_count; i-- > 0;)
      if (memory.in_flight[i].node == started && memory.in_flight[i].is_sent) memory.end_at(i);
  }
  constexpr void wait(node const& n) {
    node const& c = awaited(m, n);
    node_id const started = m.values[m.result(c)].node;
    if (starts_ahead(p.numbers, c)) {
      at[root(m.result(c))] = turn_of(m.result(c), turn);
      of[m.result(c)] = arrived[m.result(c)];
    }
    rename(m.result(n), m.operand(n, 0));
    if (!p.numbers.is_alone(c)) end(started);
    for (int i = 0; i < memory.in_flight_count; ++i)
      if (memory.in_flight[i].node == started) return say("a wait comes before its collective is sent", now);
    if (starts_ahead(p.numbers, c)) start_ahead(started, turn + 1);
  }

  // These functions simulate collectives of a loop's slices that start one iteration ahead of their wait.
  constexpr std::int64_t turn_of(value_id v, std::int64_t t) const {
    return p.offset[root(v)] + (first_turn + t) % 2 * planned_bytes(p.numbers, m.values[v]);
  }
  /// Starts the collective for iteration number `t`. The result of the iteration before stays in its buffer.
  constexpr void start_ahead(node_id collective, std::int64_t t) {
    node const& n = m.nodes[collective];
    node const& owner = m.nodes[node_owning(m, n.region)];
    loop const l = loop::of(owner);
    std::int64_t const trips = p.numbers.extent[l.dim];
    if (t >= trips) return;
    value_id const x = m.operand(n, 0), y = m.result(n);
    value_id const whole = m.operand(owner, place_of(m.nodes[m.values[x].node]));
    std::int64_t const x_now = at[root(x)], y_now = at[root(y)];
    content const x_holds = of[x], y_holds = of[y];
    bool const was_elsewhere = is_elsewhere[x];
    is_elsewhere[x] = t >= held(whole);
    if (!is_elsewhere[x]) at[root(x)] = slice_of(whole, x, l, t).from, of[x] = ahead[x];
    at[root(y)] = turn_of(y, t);
    begin(n, collective);
    arrived[y] = of[y];
    at[root(x)] = x_now, at[root(y)] = y_now;
    of[x] = x_holds, of[y] = y_holds, is_elsewhere[x] = was_elsewhere;
  }

  template <class F>
  constexpr void each_ahead(region_id body, F f) const {
    for (int i = 0; i < p.steps.count[body]; ++i)
      if (node_id const c = p.steps.nodes[p.steps.first[body] + i]; starts_ahead(p.numbers, m.nodes[c])) f(c);
  }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
