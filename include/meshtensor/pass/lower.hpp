// SPDX-License-Identifier: Apache-2.0
// Lowers a program to the plan of one rank by the steps of passes.hpp, in the compiler or at start-up. Every module in
// between is a value that can be printed, drawn, verified and interpreted.
#pragma once

#include <memory>

#include "meshtensor/pass/compile_time.hpp"
#include "meshtensor/pass/passes.hpp"
#include "meshtensor/pass/verify.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// One entry of a program set, lowered in the compiler. `graph` is the program of one rank, and `planned` is its plan.
/// The compiler runs only the steps whose results a program names.
template <class Programs, class Entry, mesh_type Mesh, layout_type Layout, class Device = void,
          std::uint64_t Fingerprint = detail::fingerprint_of<Programs>>
struct lowered
    : detail::whole_program<
          detail::request_of_row<detail::last_of_program, Programs, Entry, Mesh, Layout, Device, Fingerprint>>,
      detail::partitioned_program<
          detail::request_of_row<detail::last_of_layout, Programs, Entry, Mesh, Layout, Device, Fingerprint>>,
      detail::program_of_rank<
          detail::request_of_row<detail::last_of_device, Programs, Entry, Mesh, Layout, Device, Fingerprint>> {
 private:
  using request = detail::request_of<Programs, Entry, Mesh, Layout, capable_device<Device>, Fingerprint>;

 public:
  static_assert(is_valid<detail::traced<Programs>>);
  using lowered::program_of_rank::graph;
  /// The module after the pass in row `Row` of `passes`.
  template <int Row>
  static constexpr module const& after() {
    return detail::module_after<Row, detail::request_of_row<Row, Programs, Entry, Mesh, Layout, Device, Fingerprint>>();
  }

  static constexpr module const& traced = detail::traced<Programs>;
  static constexpr std::uint64_t fingerprint = Fingerprint;
  static constexpr binding const& bound = detail::planned_result<binding, request>;
  static constexpr plan const& planned = detail::planned_result<plan, request>;
  /// The instructions as an array. It is a function, because the compiler would deduce the type of a member at once,
  /// and would therefore plan programs that are planned only at start-up.
  static constexpr auto const& instructions() { return detail::listed_instructions<request>; }
  /// True, or else an error of the compiler with the first fault that a step of planning found, among those that depend
  /// on no more than `Input`.
  template <pass_input Input>
  static constexpr bool has_valid_plan = detail::raise_first_fault<Input, request>();
};

/// The result of `f`, constructed on the heap, because modules are too large for the stacks of threads.
template <class F>
auto on_heap(F const& f) {
  using made = decltype(f());
  return std::unique_ptr<made>(new made(f()));
}

/// Is notified at start-up when a step begins and ends. The name of the step is that of its row in passes.hpp.
class pass_observer {
 public:
  virtual ~pass_observer() = default;
  virtual void begins(char const* /*step*/) {}
  /// After a pass, with its result.
  virtual void ends(char const* /*pass*/, module const&) {}
  /// After a step that plans the entry and leaves its module unchanged.
  virtual void planned(char const* /*step*/, module const&) {}
};

/// Runs the passes in rows [`from`, `end`) of the table, and verifies the module after each of them. An error is then a
/// bug in the pass.
template <class = lazy>
std::unique_ptr<module> run_passes(module const& m, lowering_request const& request, int from, int end,
                                   pass_observer* observer = nullptr) {
  require(from < end, "G40: there is no pass to run");
  std::unique_ptr<module> made;
  for (int p = from; p < end; ++p) {
    pass_row const& pass = passes<>[p];
    if (observer != nullptr) observer->begins(pass.name);
    auto next = on_heap([&] { return pass.run(made == nullptr ? m : *made, request); });
    if (observer != nullptr) observer->ends(pass.name, *next);
    raise(verify(*next));
    made = std::move(next);
  }
  return made;
}

/// Extracts the entry called `label`, on whole tensors and with its gradients. `partition` can then follow.
inline std::unique_ptr<module> whole_entry(module const& traced, name const& label, pass_observer* observer = nullptr) {
  return run_passes(traced, {label, mesh_shape{}, layout_rules{}, {}}, 0, passes_of(pass_input::program), observer);
}

namespace detail {

/// Runs rows of `plan_steps` at start-up and keeps their results.
template <class = lazy>
class planning_at_start {
 public:
  planning_at_start(module const& graph, int entry, mesh_shape const& mesh, std::span<dim_extent const> extents)
      : state_{graph, entry, mesh, extents} {}

  /// Runs the rows [`From`, `End`). Throws the first error that a step reports.
  template <int From, int End>
  void run(pass_observer* observer = nullptr) {
    if constexpr (From < End) {
      constexpr auto step = plan_step_at<From>();
      if (observer != nullptr) observer->begins(step.name);
      auto result = on_heap([&] { return step.run(state_); });
      auto const& made = *result;
      keep(std::move(result));
      if (observer != nullptr) observer->planned(step.name, state_.graph);
      if constexpr (has_report<result_of_step<From>>) raise(made.report);
      run<From + 1, End>(observer);
    }
  }
  std::unique_ptr<plan> take_plan() { return std::move(planned_); }
  dynamic_array<instruction> take_instructions() { return std::move(instructions_); }

 private:
  void keep(std::unique_ptr<binding> made) {
    bound_ = std::move(made);
    state_.bound = bound_.get();
  }
  void keep(std::unique_ptr<plan> made) {
    planned_ = std::move(made);
    state_.planned = planned_.get();
  }
  void keep(std::unique_ptr<instruction_list> const& made) { instructions_ = instructions_of(*made); }
  template <class Check>
  void keep(std::unique_ptr<Check> const&) {}  // a check has only a report, and stays with the caller

  planning state_;
  std::unique_ptr<binding> bound_;
  std::unique_ptr<plan> planned_;
  dynamic_array<instruction> instructions_;
};

}  // namespace detail

/// An entry lowered at start-up: its graph, and its plan for the numbers that are known only at that time.
struct lowering {
  meshtensor::module graph;  // the program of one rank
  plan planned;
  int entry;
  dynamic_array<instruction> instructions;
};

/// Lowers an entry that `whole_entry` returned. Throws layout errors.
///
/// errors  S codes of `partition` and `bind`
template <class Lazy = lazy>
std::unique_ptr<lowering> lower_whole(module const& whole, name const& label, mesh_shape const& mesh,
                                      layout_rules const& rules, std::span<dim_extent const> extents,
                                      device_capabilities const& capabilities = {}, pass_observer* observer = nullptr) {
  std::unique_ptr<lowering> result(new lowering{});
  result->graph =
      *run_passes(whole, {label, mesh, rules, capabilities}, passes_of(pass_input::program), pass_count, observer);
  result->entry = find_entry(result->graph, label);
  detail::planning_at_start<Lazy> steps(result->graph, result->entry, mesh, extents);
  steps.template run<0, plan_step_count>(observer);
  result->planned = *steps.take_plan();
  result->instructions = steps.take_instructions();
  return result;
}
/// Lowers the entry called `label` of a traced module.
template <class = lazy>
std::unique_ptr<lowering> lower(module const& traced, name const& label, mesh_shape const& mesh,
                                layout_rules const& rules, std::span<dim_extent const> extents,
                                device_capabilities const& capabilities = {}, pass_observer* observer = nullptr) {
  return lower_whole(*whole_entry(traced, label, observer), label, mesh, rules, extents, capabilities, observer);
}

/// Plans an entry that the compiler has lowered, for a mesh and extents that are known only at start-up. The compiler
/// has run the steps that depend on no numbers, and `session` lists the instructions.
///
/// errors  S codes of `bind`
template <class Lazy = lazy>
std::unique_ptr<plan> plan_at_start(module const& graph, int entry, mesh_shape const& mesh,
                                    std::span<dim_extent const> extents) {
  detail::planning_at_start<Lazy> steps(graph, entry, mesh, extents);
  steps.template run<plan_steps_of<pass_input::device>(), plan_step_giving<instruction_list>()>();
  return steps.take_plan();
}

#if MESHTENSOR_COMPILED
extern template std::unique_ptr<module> run_passes<lazy>(module const&, lowering_request const&, int, int,
                                                         pass_observer*);
extern template std::unique_ptr<lowering> lower<lazy>(module const&, name const&, mesh_shape const&,
                                                      layout_rules const&, std::span<dim_extent const>,
                                                      device_capabilities const&, pass_observer*);
extern template std::unique_ptr<plan> plan_at_start<lazy>(module const&, int, mesh_shape const&,
                                                          std::span<dim_extent const>);
#endif

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
