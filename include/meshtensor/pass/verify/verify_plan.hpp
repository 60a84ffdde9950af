// SPDX-License-Identifier: Apache-2.0
// Simulates a plan without numbers and checks two properties. Every value must still be in memory when it is read, and
// no node may touch the memory of a collective between its start and its wait.
// before: planned.  after: the same. The first fault found is one sentence.
// why: values share memory in many ways, for example by aliases, results that reuse operands' buffers, slices of
// stacks, or updates in place. The planner reasons about each way. In contrast, this check knows only addresses and the
// last write to each of them.
#pragma once

#include "meshtensor/pass/fuse/epilogue.hpp"
#include "meshtensor/pass/fuse/read_kernel.hpp"
#include "meshtensor/pass/plan_memory/liveness.hpp"
#include "meshtensor/pass/verify/contents.hpp"
#include "meshtensor/pass/verify/verify_waits.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

/// Simulates the nodes in the order of the plan. For a loop, it runs the first two iterations and then the writes of
/// all others at once. If the loop may end early, its results must also be there before the first iteration and after
/// each one.
struct plan_verifier {
  static constexpr int iterations = 2;

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
  // For collectives that start one iteration ahead: the running iteration, the buffer of the first iteration's result
  // (0 or 1), the next iteration's slice, and the values that have arrived.
  std::int64_t turn, first_turn;
  planned_contents::content ahead[max_values], arrived[max_values];
  bool is_elsewhere[max_values];  // whether another rank holds this iteration's slice

  constexpr plan_verifier(module const& source, plan const& planned, int entry)
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
        turn{},
        first_turn{},
        ahead{},
        arrived{},
        is_elsewhere{} {
    for (int v = 0; v < m.value_count; ++v) at[v] = p.offset[v];
    run(static_cast<region_id>(entry));
    if (memory.in_flight_count != 0) say("a collective starts and has no wait", memory.in_flight[0].node);
    for (int v = 0; v < m.variable_count; ++v)
      if (content const c = is_written[v] ? last[v] : initial[v]; c.number != 0 && !memory.holds(c))
        say("a variable does not hold its value when the step ends", now);
  }

 private:
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

  constexpr void run(region_id region) {
    for (int i = 0; i < p.steps.count[region] && found.report.empty(); ++i)
      step(p.steps.nodes[p.steps.first[region] + i]);
  }

  constexpr void step(node_id which) {
    node const& n = m.nodes[which];
    now = which;
    switch (n.kind) {
      case primitive::argument: return;
      case primitive::input:
        at[m.result(n)] = of_input(which), of[m.result(n)] = memory.add(where(m.result(n)));
        return;
      case primitive::read: {
        variable_id const v = variable_of(n);
        at[m.result(n)] = of_variable(v);
        if (initial[v].number == 0) initial[v] = memory.add(where(m.result(n)));
        of[m.result(n)] = initial[v];
        return;
      }
      case primitive::write: return update(n);
      case primitive::output: return read(m.operand(n, 0));
      case primitive::wait: return wait(n);
      case primitive::repeat: return repeat(n);
      case primitive::composite:
        if (is_whole(n)) break;
        return call(n);
      default: break;
    }
    if (is_collective(n.kind)) return start(n);
    if (shares_memory(n)) return rename(m.result(n), m.operand(n, 0));
    if (is_placed(m.result(n), place::strided_slice)) {
      of[m.result(n)] = of[m.operand(n, 0)];
      return;
    }
    compute(n);
  }

  constexpr void update(node const& n) {
    variable_id const v = variable_of(n);
    value_id const value = m.operand(n, 0);
    read(value);
    range const to{of_variable(v), of_variable(v) + bytes(value)};
    is_written[v] = true;
    last[v] = of[value];
    if (at[root(value)] == to.from) return;
    write(to);
    last[v] = memory.add(to);
  }

  constexpr void compute(node const& n) {
    for (int k = 0; k < n.operands.count; ++k) read(m.operand(n, k));
    for (int i = 0; i < n.results.count; ++i) {
      range const y = where(m.result(n, i));
      for (int k = 0; k < n.operands.count; ++k)
        if (y.meets(where(m.operand(n, k))) && !may_write_over(n, i, k))
          return say("a result overwrites an operand that the node still reads", now);
    }
    for (int i = 0; i < n.results.count; ++i) write(m.result(n, i));
  }
  /// Whether the node reads each element of the operand no later than it writes that element of the result.
  constexpr bool may_write_over(node const& n, int result, int operand) {
    range const x = where(m.operand(n, operand)), y = where(m.result(n, result));
    if (x.from != y.from || x.to != y.to || is_placed(m.operand(n, operand), place::strided_slice)) return false;
    if (declared(m, n).buffer == buffer_use::update) return operand == 0;
    if (is_whole(n)) return (overwritten_by_epilogue(m, n) >> operand & 1) != 0;
    return n.kind == primitive::kernel && (read_kernel(m, n).overwrites[result] >> operand & 1) != 0;
  }

  // Collectives.
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

  constexpr void call(node const& n) {
    region const& body = m.regions[m.region_of(n, 0)];
    for (int i = 0; i < n.operands.count; ++i) rename(m.link(body.arguments, i), m.operand(n, i));
    run(m.region_of(n, 0));
    for (int i = 0; i < n.results.count && found.report.empty(); ++i) rename(m.result(n, i), m.link(body.results, i));
  }

  // Loops.
  struct stack {  // of a stacked operand or result: the slices of the simulated iterations, and the rest
    content slice[iterations], rest;
  };
  /// How many slices of a stack a rank holds. The simulated rank is the one whose slices come first.
  constexpr std::int64_t held(value_id whole) const { return p.numbers.local(m.values[whole], 0); }
  /// The slice of iteration number `t`, which is below `held`.
  constexpr range slice_of(value_id whole, value_id one, loop const& l, std::int64_t t) {
    std::int64_t const from = at[root(whole)] + (l.reversed ? held(whole) - 1 - t : t) * bytes(one);
    return {from, from + bytes(one)};
  }
  /// The slices of all iterations but the first `ran`.
  constexpr range rest_of(value_id whole, value_id one, loop const& l, std::int64_t ran) {
    range const r = where(whole);
    if (ran > held(whole)) ran = held(whole);
    return l.reversed ? range{r.from, r.to - ran * bytes(one)} : range{r.from + ran * bytes(one), r.to};
  }
  constexpr void repeat(node const& n) {
    node_id const self = now;
    loop const l = loop::of(n);
    region const& body = m.regions[m.region_of(n, 0)];
    std::int64_t const trips = p.numbers.extent[l.dim], ran = trips < iterations ? trips : iterations;
    auto argument = [&](int i) { return m.link(body.arguments, i); };
    auto given = [&](int i) { return m.link(body.results, i); };
    int const stacked_end = l.carries + l.stacked, first_out = l.carries + l.sums;
    stack in[max_operands] = {}, out[max_operands] = {};

    for (int i = 0; i < n.operands.count; ++i) {
      if (i >= l.carries) read(m.operand(n, i));
      if (i < l.carries) copy(argument(i), m.operand(n, i));
      else if (i >= stacked_end) rename(argument(i), m.operand(n, i));
      else enter(in[i - l.carries], m.operand(n, i), argument(i), l, ran);
    }
    for (int i = l.carries; i < (l.ends_early ? n.results.count : first_out); ++i) write(m.result(n, i));  // zeros
    for (int i = 0; l.ends_early && i < n.results.count; ++i) read(i < l.carries ? argument(i) : m.result(n, i));
    std::int64_t const outer_turn = turn, outer_first = first_turn;
    first_turn = l.reversed ? (trips + 1) % 2 : 0;  // the parity of an iteration's index, which goes down to 0
    for (int i = l.carries; i < stacked_end; ++i) ahead[argument(i)] = in[i - l.carries].slice[0];
    region_id const inside = m.region_of(n, 0);
    each_ahead(inside, [&](node_id c) { start_ahead(c, 0); });
    for (std::int64_t t = 0; t < ran && found.report.empty(); ++t) {
      turn = t;
      for (int i = l.carries; i < stacked_end; ++i) {
        stack const& s = in[i - l.carries];
        ahead[argument(i)] = t + 1 < ran ? s.slice[t + 1] : s.rest;
        is_elsewhere[argument(i)] = t >= held(m.operand(n, i));
        if (is_elsewhere[argument(i)]) continue;
        at[argument(i)] = slice_of(m.operand(n, i), argument(i), l, t).from;
        of[argument(i)] = in[i - l.carries].slice[t];
      }
      for (int i = first_out; i < body.results.count; ++i) {
        if (is_stack_slice_of(m, p, m.region_of(n, 0), given(i)))
          at[root(given(i))] = slice_of(m.result(n, i), given(i), l, t).from;
        out[i - first_out].rest = memory.add(rest_of(m.result(n, i), given(i), l, t + 1));
      }
      run(m.region_of(n, 0));
      if (!found.report.empty()) return;
      now = self;
      put_away(n, l, out, t);
      for (int i = 0; l.ends_early && i < l.carries; ++i) read(argument(i));
    }
    turn = outer_turn, first_turn = outer_first;
    each_ahead(inside, [&](node_id c) { end(c); });  // started for the first iteration that is not simulated
    if (found.report.empty()) leave(n, l, in, out, ran);
  }
  constexpr void enter(stack& s, value_id whole, value_id one, loop const& l, std::int64_t ran) {
    for (std::int64_t t = 0; t < ran && t < held(whole); ++t) s.slice[t] = memory.add(slice_of(whole, one, l, t));
    s.rest = memory.add(rest_of(whole, one, l, ran));
  }
  /// The end of an iteration. Sums are added to, slices are stored in their stacks, and carries are passed on.
  constexpr void put_away(node const& n, loop const& l, stack* out, std::int64_t t) {
    region const& body = m.regions[m.region_of(n, 0)];
    int const first_out = l.carries + l.sums;
    for (int i = l.carries; i < first_out; ++i) {
      read(m.link(body.results, i));
      read(m.result(n, i));
      write(m.result(n, i));
    }
    for (int i = first_out; i < body.results.count; ++i) {
      value_id const v = m.link(body.results, i);
      if (t >= held(m.result(n, i))) continue;
      range const to = slice_of(m.result(n, i), v, l, t);
      if (at[root(v)] == to.from) {
        if (!memory.holds(of[v])) say("a slice is written over before the iteration ends", now);
        out[i - first_out].slice[t] = of[v];
      } else {
        read(v);
        write(to);
        out[i - first_out].slice[t] = memory.add(to);
      }
      if (!memory.holds(out[i - first_out].rest)) say("a loop's body overwrites slices of later iterations", now);
      memory.drop(out[i - first_out].rest);
    }
    for (int i = 0; i < l.carries; ++i) copy(m.link(body.arguments, i), m.link(body.results, i));
  }
  /// The end of a loop. The writes of the other iterations are simulated. All values that these iterations read must
  /// still be there.
  constexpr void leave(node const& n, loop const& l, stack* in, stack* out, std::int64_t ran) {
    region const& body = m.regions[m.region_of(n, 0)];
    int const first_out = l.carries + l.sums;
    for (int k = 0; k < l.stacked; ++k) {
      if (!memory.holds(in[k].rest)) say("a loop writes over slices that later iterations read", now);
      value_id const x = m.operand(n, l.carries + k);
      for (int i = first_out; i < n.results.count; ++i) {
        range const a = where(x), b = where(m.result(n, i));
        if (a.meets(b) && (a.from != b.from || a.to != b.to))
          say("a loop stacks its results over slices that later iterations read", now);
      }
      for (content& c : in[k].slice) memory.drop(c);
      memory.drop(in[k].rest);
    }
    for (int i = first_out; i < n.results.count; ++i) {
      stack const& s = out[i - first_out];
      value_id const whole = m.result(n, i), one = m.link(body.results, i);
      for (std::int64_t t = 0; t < ran && t < held(whole); ++t)
        if (!memory.holds(s.slice[t]))
          say("a later iteration writes over a slice that an earlier one has stacked", now);
      write(rest_of(whole, one, l, ran));
      for (content c : s.slice) memory.drop(c);
      of[whole] = memory.add(where(whole));
    }
    for (int i = 0; i < l.carries; ++i) rename(m.result(n, i), m.link(body.arguments, i));
    for (int i = 0; i < first_out; ++i)
      if (!memory.holds(of[m.result(n, i)])) say("a loop's stack is written over a carry or a sum", now);
    for (int i = l.carries + l.stacked; i < n.operands.count; ++i)
      if (!memory.holds(of[m.operand(n, i)])) say("a loop writes over what its iterations read", now);
  }
};

}  // namespace detail

/// The first fault of a plan, or nothing if the module has a report. errors G41
constexpr graph_check verify_plan(module const& m, int entry, plan const& p) {
  return m.report.empty() ? detail::plan_verifier(m, p, entry).found : graph_check{};
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
