// SPDX-License-Identifier: Apache-2.0
// Lists every step from the trace of a program to the instructions of a rank, in the order in which they run. `passes`
// go from module to module, and `plan_steps` turn the last module into a plan and its instructions. Lowering in the
// compiler and at start-up, verification, timing and the golden texts of the tests all read this page.
#pragma once

#include <iterator>
#include <tuple>

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/pass/bind.hpp"
#include "meshtensor/pass/device_capabilities.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/extract_entry.hpp"
#include "meshtensor/pass/fuse.hpp"
#include "meshtensor/pass/inline_composites.hpp"
#include "meshtensor/pass/join_epilogues.hpp"
#include "meshtensor/pass/list_instructions.hpp"
#include "meshtensor/pass/overlap_collectives.hpp"
#include "meshtensor/pass/partition.hpp"
#include "meshtensor/pass/plan_memory.hpp"
#include "meshtensor/pass/prune.hpp"
#include "meshtensor/pass/save_or_recompute.hpp"
#include "meshtensor/pass/simplify.hpp"
#include "meshtensor/pass/slice_collectives.hpp"
#include "meshtensor/pass/verify/verify_plan.hpp"
#include "meshtensor/pass/verify/verify_waits.hpp"
#include "meshtensor/pass/widen.hpp"

namespace meshtensor {

/// The input of a pass besides a module.
struct lowering_request {
  name label;  // of the entry
  mesh_shape const& mesh;
  layout_rules const& rules;
  device_capabilities capabilities;
};

/// The input that a step depends on: the program alone, the program with its mesh and layout, these with the device, or
/// all of them with the extents of dims and the sizes of mesh axes. All executables with the same input share the
/// step's result. If some numbers are open in the compiler, the steps that depend on `numbers` run at start-up.
enum class pass_input : std::uint8_t { program, layout, device, numbers };

struct pass_row {
  char const* name;
  pass_input depends_on;
  meshtensor::module (*run)(module const&, lowering_request const&);
};

template <class = lazy>
inline constexpr pass_row passes[] = {
    {"extract_entry", pass_input::program,
     [](module const& m, lowering_request const& r) { return extract_entry(m, find_entry(m, r.label)); }},
    {"widen", pass_input::program, [](module const& m, lowering_request const&) { return widen(m); }},
    {"differentiate", pass_input::program, [](module const& m, lowering_request const&) { return differentiate(m); }},
    {"save_or_recompute", pass_input::program,
     [](module const& m, lowering_request const&) { return save_or_recompute(m); }},
    {"simplify", pass_input::program, [](module const& m, lowering_request const&) { return simplify(m); }},
    {"partition", pass_input::layout,
     [](module const& m, lowering_request const& r) { return partition(m, r.mesh, r.rules); }},
    {"slice_collectives", pass_input::layout,
     [](module const& m, lowering_request const&) { return slice_collectives(m); }},
    {"inline_composites", pass_input::device,
     [](module const& m, lowering_request const& r) {  // some results of a composite may be unused
       return r.capabilities.fuses ? prune(inline_composites(m, r.capabilities.claims)) : m;
     }},
    {"join_epilogues", pass_input::device,
     [](module const& m, lowering_request const& r) {
       bool const joins = r.capabilities.fuses && may_join_epilogues(m, r.capabilities.joins);
       return joins ? join_epilogues(m, r.capabilities.joins) : m;
     }},
    {"fuse", pass_input::device,
     [](module const& m, lowering_request const& r) { return r.capabilities.fuses ? fuse(m) : m; }},
    {"overlap_collectives", pass_input::device,
     [](module const& m, lowering_request const&) { return overlap_collectives(m); }},
};

inline constexpr int pass_count = static_cast<int>(std::size(passes<>));

/// The number of passes that depend on no more than `input`. They are the first rows of the table.
constexpr int passes_of(pass_input input) {
  int n = 0;
  while (n < pass_count && passes<>[n].depends_on <= input) ++n;
  return n;
}

/// The input of a step that plans an entry: the program of one rank, and the results of the steps before.
struct planning {
  meshtensor::module const& graph;
  int entry;
  mesh_shape const& mesh;
  std::span<dim_extent const> extents = {};  // given at start-up
  binding const* bound = nullptr;            // the result of `bind`
  plan const* planned = nullptr;             // the result of `plan_memory`
};

/// A step from a module, a binding and a plan to `Result`. If the result has a report, its error ends the lowering.
template <class Result>
struct plan_step {
  using result = Result;
  char const* name;
  pass_input depends_on;
  Result (*run)(planning const&);
};

template <class = lazy>
inline constexpr std::tuple plan_steps{
    plan_step<graph_check>{"verify_waits", pass_input::device, [](planning const& s) { return verify_waits(s.graph); }},
    plan_step<early_check>{"check_early", pass_input::device, [](planning const& s) { return check_early(s.graph); }},
    plan_step<binding>{"bind", pass_input::numbers, [](planning const& s) { return bind(s.graph, s.mesh, s.extents); }},
    plan_step<plan>{"plan_memory", pass_input::numbers,
                    [](planning const& s) { return plan_memory(s.graph, s.entry, *s.bound); }},
    plan_step<graph_check>{"verify_plan", pass_input::numbers,
                           [](planning const& s) { return verify_plan(s.graph, s.entry, *s.planned); }},
    plan_step<instruction_list>{"list_instructions", pass_input::numbers,
                                [](planning const& s) { return instruction_list(s.graph, *s.planned, s.entry); }},
};

inline constexpr int plan_step_count = std::tuple_size_v<decltype(plan_steps<>)>;

/// The row `Row` of `plan_steps`.
template <int Row>
constexpr auto const& plan_step_at() {
  return std::get<static_cast<std::size_t>(Row)>(plan_steps<>);
}
/// The result of the row `Row` of `plan_steps`.
template <int Row>
using result_of_step = typename std::remove_cvref_t<decltype(plan_step_at<Row>())>::result;
template <class Result>
concept has_report = requires(Result const& r) { r.report; };

/// The row of `plan_steps` that gives a `Result`.
template <class Result, int Row = 0>
constexpr int plan_step_giving() {
  if constexpr (std::is_same_v<result_of_step<Row>, Result>) return Row;
  else return plan_step_giving<Result, Row + 1>();
}
/// The instructions of a planned entry, by the row of `plan_steps` that lists them.
template <class = lazy>
dynamic_array<instruction> instructions_of_entry(module const& m, plan const& p, int entry) {
  constexpr auto step = plan_step_at<plan_step_giving<instruction_list>()>();  // a copy, or all steps would be linked
  mesh_shape const mesh{};  // is not read, because the list is the same for all ranks
  return instructions_of(step.run({m, entry, mesh, {}, &p.numbers, &p}));
}
/// The number of rows of `plan_steps` that depend on no more than `input`. They are the first rows.
template <pass_input Input, int Row = 0>
constexpr int plan_steps_of() {
  if constexpr (Row == plan_step_count) return Row;
  else if constexpr (plan_step_at<Row>().depends_on > Input) return Row;
  else return plan_steps_of<Input, Row + 1>();
}

}  // namespace meshtensor
