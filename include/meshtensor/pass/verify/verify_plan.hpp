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
#include "meshtensor/pass/verify/verify_plan/planned_collectives.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

/// Simulates the nodes in the order of the plan. For a loop, it runs the first two iterations and then the writes of
/// all others at once. If the loop may end early, its results must also be there before the first iteration and after
/// each one.
struct plan_verifier : planned_collectives {
  constexpr plan_verifier(module const& source, plan const& planned, int entry) : planned_collectives(source, planned) {
    run(static_cast<region_id>(entry));
    int ordered = 0;
    for (int r = 0; r < m.region_count; ++r) ordered += p.steps.count[r];
    if (ordered != m.node_count) say("the order of the plan lacks a node", now);
    if (memory.in_flight_count != 0) say("a collective starts and has no wait", memory.in_flight[0].node);
    for (int v = 0; v < m.variable_count; ++v)
      if (content const c = is_written[v] ? last[v] : initial[v]; c.number != 0 && !memory.holds(c))
        say("a variable does not hold its value when the step ends", now);
  }

 private:
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

  constexpr void call(node const& n) {
    region const& body = m.regions[m.region_of(n, 0)];
    for (int i = 0; i < n.operands.count; ++i) rename(m.link(body.arguments, i), m.operand(n, i));
    run(m.region_of(n, 0));
    for (int i = 0; i < n.results.count && found.report.empty(); ++i) rename(m.result(n, i), m.link(body.results, i));
  }

  constexpr void repeat(node const& n) {
    node_id const self = now;
    loop const l = loop::of(n);
    region const& body = m.regions[m.region_of(n, 0)];
    std::int64_t const trips = p.numbers.extent[l.dim], ran = trips < iterations ? trips : iterations;
    auto argument = [&](int i) { return m.link(body.arguments, i); };
    auto given = [&](int i) { return m.link(body.results, i); };
    int const stacked_end = l.carries + l.stacked, first_out = l.carries + l.sums;
    stacks_of_loop in(l.stacked), out(n.results.count - first_out);

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
};

}  // namespace detail

/// The first fault of a plan, or nothing if the module has a report. errors G41
constexpr graph_check verify_plan(module const& m, int entry, plan const& p) {
  return m.report.empty() ? detail::plan_verifier(m, p, entry).found : graph_check{};
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
