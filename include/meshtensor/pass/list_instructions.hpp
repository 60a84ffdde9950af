// SPDX-License-Identifier: Apache-2.0
// Lists the instructions of one rank for one step, in order.
// before: planned.  after: a list in which only addresses are open, because only a step knows them. Aliases have no
// instruction, collectives of one rank are copies at most, and composites are inlined.
#pragma once

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/pass/list_instructions/instruction.hpp"
#include "meshtensor/pass/plan_memory.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

/// Gives each instruction of an entry to `add`, in order.
template <class Add>
struct instruction_lister {
  meshtensor::module const& m;
  plan const& p;
  Add& add;
  id launches = 0;

  constexpr void region(region_id r) {
    for (int i = 0; i < p.steps.count[r]; ++i) node_at(p.steps.nodes[p.steps.first[r] + i]);
  }

 private:
  using enum instruction_kind;

  constexpr void give(instruction_kind kind, node_id which, id from, id to, std::int64_t bytes = 0) {
    add(instruction{kind, which, from, to, bytes, 0, false});
  }
  constexpr std::int64_t bytes(value_id v) const { return p.numbers.local_bytes(m.values[v]); }
  constexpr place placed(value_id v) const { return p.where[p.root[v]]; }
  constexpr bool share_memory(value_id a, value_id b) const { return p.root[a] == p.root[b]; }
  constexpr void copy_value(node_id which, value_id from, value_id to) {
    if (!share_memory(from, to)) give(copy, which, from, to, bytes(from));
  }

  constexpr void node_at(node_id which) {
    node const& n = m.nodes[which];
    switch (n.kind) {
      case primitive::argument: return;
      case primitive::input: return give(bind_input, which, no_id, m.result(n));
      case primitive::read: return give(bind_variable, which, variable_of(n), m.result(n));
      case primitive::write: return write(which, n);
      case primitive::output: return give(copy_to_output, which, m.operand(n, 0), no_id, bytes(m.operand(n, 0)));
      case primitive::local_slice: return give(copy_part, which, m.operand(n, 0), m.result(n));
      case primitive::repeat: return loop_of(which, n);
      case primitive::wait: {
        node const& started = awaited(m, n);
        if (!p.numbers.is_alone(started)) give(wait, which, m.values[m.result(started)].node, m.result(n));
        if (!starts_ahead(p.numbers, started)) return;
        start_ahead(m.values[m.result(started)].node, begin_next);
        return bind_to_turn(node_owning(m, started.region), m.result(started));
      }
      case primitive::composite:
        if (is_whole(n)) break;
        give(begin_call, which, no_id, no_id);
        region(m.region_of(n, 0));
        return give(end, which, no_id, no_id);
      default: break;
    }
    if (is_collective(n.kind)) return collective_of(which, n);
    if (shares_memory(n)) return;
    if (declared(m, n).buffer == buffer_use::window && p.where[m.result(n)] == place::strided_slice)
      return give(bind_window, which, m.operand(n, 0), m.result(n));
    give(launch, which, no_id, launches++);
  }

  constexpr void write(node_id which, node const& n) {
    value_id const v = m.operand(n, 0);
    node const& maker = m.nodes[m.values[p.root[v]].node];
    if (placed(v) == place::variable && variable_of(maker) == variable_of(n)) return;  // it was computed in place
    give(copy_to_store, which, v, variable_of(n), bytes(v));
  }

  constexpr void collective_of(node_id which, node const& n) {
    value_id const from = m.operand(n, 0), to = m.result(n);
    if (p.numbers.is_alone(n)) return copy_value(which, from, to);
    if (starts_ahead(n)) return;
    // If a reduced slice is not in its stack, its memory holds it for one iteration only, so the collective ends here.
    bool const ends_here = ends_behind_loop(n) && placed(to) != place::stack_slice;
    give(ends_here ? collective : start, which, from, to);
  }

  constexpr void bind_to_turn(node_id which, value_id v) {
    give(bind_buffer, which, no_id, v, planned_bytes(p.numbers, m.values[v]));
  }
  /// Starts a collective of a loop's slices for a later iteration.
  constexpr void start_ahead(node_id started, instruction_kind when) {
    node const& n = m.nodes[started];
    node_id const which = node_owning(m, n.region);
    node const& owner = m.nodes[which];
    loop const l = loop::of(owner);
    value_id const slice = m.operand(n, 0);
    add(instruction{when, which, no_id, no_id, 0, p.numbers.extent[l.dim], l.reversed});
    give(bind_slice, which, m.operand(owner, place_of(m.nodes[m.values[slice].node])), slice, bytes(slice));
    bind_to_turn(which, m.result(n));
    give(start, started, slice, m.result(n));
    give(end, which, no_id, no_id);
  }
  template <class F>
  constexpr void each_ahead(region_id r, F f) const {
    for (int i = 0; i < p.steps.count[r]; ++i)
      if (node_id const at = p.steps.nodes[p.steps.first[r] + i]; starts_ahead(p.numbers, m.nodes[at])) f(at);
  }

  constexpr void loop_of(node_id which, node const& n) {
    loop const l = loop::of(n);
    region_id const body_id = m.region_of(n, 0);
    meshtensor::region const& body = m.regions[body_id];
    auto argument = [&](int i) { return m.link(body.arguments, i); };
    auto given = [&](int i) { return m.link(body.results, i); };
    int const first_out = l.carries + l.sums;

    for (int i = 0; i < l.carries; ++i) copy_value(which, m.operand(n, i), argument(i));
    // Sums start at zero. Stacks of a loop that may end early start at zero, too, because the loop may not write all
    // their slices.
    for (int i = l.carries; i < (l.ends_early ? n.results.count : first_out); ++i)
      give(zero, which, no_id, m.result(n, i), bytes(m.result(n, i)));
    each_ahead(body_id, [&](node_id c) { start_ahead(c, begin_first); });
    id const runs = l.ends_early ? argument(0) : no_id;
    add(instruction{begin_loop, which, runs, no_id, 0, p.numbers.extent[l.dim], l.reversed});
    for (int i = l.carries; i < l.carries + l.stacked; ++i)
      give(bind_slice, which, m.operand(n, i), argument(i), bytes(argument(i)));
    for (int i = first_out; i < body.results.count; ++i)
      if (is_stack_slice_of(m, p, body_id, given(i)))
        give(bind_slice, which, m.result(n, i), given(i), bytes(given(i)));
    each_ahead(body_id, [&](node_id c) { bind_to_turn(which, m.result(m.nodes[c])); });
    region(body_id);
    for (int i = l.carries; i < first_out; ++i) give(accumulate, which, given(i), m.result(n, i), bytes(given(i)));
    for (int i = first_out; i < body.results.count; ++i)
      if (!is_stack_slice_of(m, p, body_id, given(i)))
        give(copy_to_slice, which, given(i), m.result(n, i), bytes(given(i)));
    for (int i = 0; i < l.carries; ++i) copy_value(which, given(i), argument(i));
    give(end, which, no_id, no_id);
  }
};

}  // namespace detail

/// Gives each instruction of one step of an entry to `add`, in order. A module with a report has no instructions.
template <class Add>
constexpr void list_instructions(module const& m, plan const& p, int entry, Add add) {
  if (m.report.empty()) detail::instruction_lister<Add>{m, p, add}.region(static_cast<region_id>(entry));
}

/// The instructions of one step of an entry. They are listed on request and not stored, because the compiler needs
/// their number before it can fill an array. The module and the plan must outlive the list.
class instruction_list {
 public:
  constexpr instruction_list(module const& m, plan const& p, int entry) : m_(&m), p_(&p), entry_(entry) {}
  template <class = lazy>
  constexpr std::size_t count() const {
    std::size_t n = 0;
    each([&n](instruction const&) { ++n; });
    return n;
  }
  /// Gives each instruction to `add`, in order.
  template <class Add>
  constexpr void each(Add add) const {
    list_instructions(*m_, *p_, entry_, add);
  }

 private:
  meshtensor::module const* m_;
  plan const* p_;
  int entry_;
};

/// The instructions of one step of an entry, as engines read them.
template <class = lazy>
dynamic_array<instruction> instructions_of(instruction_list const& listed) {
  dynamic_array<instruction> all;
  listed.each([&](instruction const& i) { all.push_back(i); });
  return all;
}
#if MESHTENSOR_COMPILED
extern template dynamic_array<instruction> instructions_of<lazy>(instruction_list const&);
#endif

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
