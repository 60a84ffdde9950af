// SPDX-License-Identifier: Apache-2.0
// Lowers a program to the plan of one rank by the passes of passes.hpp, in the compiler or at start-up. Every module in
// between is a value that can be printed, drawn, verified and interpreted.
#pragma once

#include <memory>

#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/pass/bind.hpp"
#include "meshtensor/pass/fingerprint.hpp"
#include "meshtensor/pass/passes.hpp"
#include "meshtensor/pass/plan_memory.hpp"
#include "meshtensor/pass/verify.hpp"
#include "meshtensor/pass/verify/verify_plan.hpp"
#include "meshtensor/pass/verify/verify_waits.hpp"

namespace meshtensor {

// From here to `lowered`, each module is a constant of its own. Therefore the compiler's limits of constant evaluation
// apply to each pass alone. Moreover, uses with the same template arguments share a module: for example, a set of
// programs is traced once for all meshes, layouts and devices.
namespace detail {

template <class Programs>
// One compiler reports a program that it cannot trace by showing this line:
inline constexpr module traced = try_trace<Programs>();  // program_error<not constexpr, or past -fconstexpr-steps>

/// The hash of a trace. Every type that is made from the trace has it as a template argument, because two source files
/// may each have a `struct step`. Without the hash, the linker would confuse the instantiations of the two.
template <class Programs>
inline constexpr std::uint64_t fingerprint_of = fingerprint(traced<Programs>);

/// The input of a pass as a type. Mesh, layout or device is void if the pass does not depend on it.
template <class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
struct request_of {
  using programs = Programs;
  static constexpr lowering_request value{entry_name<Entry>(), Mesh::shape, Layout::sharding_rules,
                                          capabilities_of<Device>};
};
template <class Programs, class Entry, std::uint64_t Fingerprint>
struct request_of<Programs, Entry, void, void, void, Fingerprint> {
  using programs = Programs;
  static constexpr mesh_shape mesh{};
  static constexpr layout_rules rules{};
  static constexpr lowering_request value{entry_name<Entry>(), mesh, rules, {}};
};

template <pass_input Input, class Programs, class Entry, class Mesh, class Layout, class Device,
          std::uint64_t Fingerprint>
struct request_for {
  using type = request_of<Programs, Entry, Mesh, Layout, Device, Fingerprint>;
};
template <class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
struct request_for<pass_input::layout, Programs, Entry, Mesh, Layout, Device, Fingerprint> {
  using type = request_of<Programs, Entry, Mesh, Layout, void, Fingerprint>;
};
template <class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
struct request_for<pass_input::program, Programs, Entry, Mesh, Layout, Device, Fingerprint> {
  using type = request_of<Programs, Entry, void, void, void, Fingerprint>;
};

/// A request for all passes, reduced to the input that pass `Row` depends on.
template <int Row, class Request>
struct narrowed;
template <int Row, class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
struct narrowed<Row, request_of<Programs, Entry, Mesh, Layout, Device, Fingerprint>>
    : request_for<passes<>[Row].depends_on, Programs, Entry, Mesh, Layout, Device, Fingerprint> {};

/// The module after pass `Row`. Requests share it if they agree in the inputs that the pass depends on.
template <int Row, class Request>
constexpr module const& module_after();

template <int Row, class Request>
constexpr module run_row() {
  if constexpr (Row == 0) return passes<>[0].run(traced<typename Request::programs>, Request::value);
  else return passes<>[Row].run(module_after<Row - 1, typename narrowed<Row - 1, Request>::type>(), Request::value);
}

inline constexpr int last_of_program = passes_of(pass_input::program) - 1;
inline constexpr int last_of_layout = passes_of(pass_input::layout) - 1;
inline constexpr int last_of_device = passes_of(pass_input::device) - 1;

template <int Row, class Request>
struct pass_result {
  static constexpr module value = run_row<Row, Request>();
};
template <class Request>
struct whole_program {
  static constexpr module whole = run_row<last_of_program, Request>();
};
template <class Request>
struct partitioned_program {
  static constexpr module partitioned = run_row<last_of_layout, Request>();
};
template <class Request>
struct program_of_rank {
  static constexpr module graph = run_row<last_of_device, Request>();
};

template <int Row, class Request>
constexpr module const& module_after() {
  if constexpr (Row == last_of_program) return whole_program<Request>::whole;
  else if constexpr (Row == last_of_layout) return partitioned_program<Request>::partitioned;
  else if constexpr (Row == last_of_device) return program_of_rank<Request>::graph;
  else return pass_result<Row, Request>::value;
}

template <int Row, class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
using request_of_row =
    typename narrowed<Row, request_of<Programs, Entry, Mesh, Layout, capable_device<Device>, Fingerprint>>::type;

}  // namespace detail

/// One entry of a program set, lowered in the compiler. `graph` is the program of one rank, and `planned` is its plan.
template <class Programs, class Entry, mesh_type Mesh, layout_type Layout, class Device = void,
          std::uint64_t Fingerprint = detail::fingerprint_of<Programs>>
struct lowered
    : detail::whole_program<
          detail::request_of_row<detail::last_of_program, Programs, Entry, Mesh, Layout, Device, Fingerprint>>,
      detail::partitioned_program<
          detail::request_of_row<detail::last_of_layout, Programs, Entry, Mesh, Layout, Device, Fingerprint>>,
      detail::program_of_rank<
          detail::request_of_row<detail::last_of_device, Programs, Entry, Mesh, Layout, Device, Fingerprint>> {
  static_assert(is_valid<detail::traced<Programs>>);
  using lowered::program_of_rank::graph;
  /// The module after the pass in row `Row` of the table.
  template <int Row>
  static constexpr module const& after() {
    return detail::module_after<Row, detail::request_of_row<Row, Programs, Entry, Mesh, Layout, Device, Fingerprint>>();
  }

  static constexpr module const& traced = detail::traced<Programs>;
  static constexpr std::uint64_t fingerprint = Fingerprint;
  static constexpr graph_check awaited = verify_waits(graph);
  static constexpr early_check checked = check_early(graph);
  static constexpr binding bound = bind(graph, Mesh::shape);
  static constexpr plan planned = plan_memory(graph, find_entry(graph, entry_name<Entry>()), bound);
  static constexpr graph_check plan_checked = verify_plan(graph, find_entry(graph, entry_name<Entry>()), planned);
};

/// The result of `f`, constructed on the heap, because modules are too large for the stacks of threads.
template <class F>
auto on_heap(F const& f) {
  using made = decltype(f());
  return std::unique_ptr<made>(new made(f()));
}

/// Is notified when a pass begins and ends at start-up.
class pass_observer {
 public:
  virtual ~pass_observer() = default;
  virtual void begins(char const*) {}
  virtual void ends(char const*, module const&) {}
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

/// An entry lowered at start-up: its graph, and its plan for the numbers that are known only at that time.
struct lowering {
  meshtensor::module graph;  // the program of one rank
  plan planned;
  int entry;
};

/// Lowers an entry that `whole_entry` returned. Throws layout errors.
///
/// errors  S codes of `partition` and `bind`
template <class = lazy>
std::unique_ptr<lowering> lower_whole(module const& whole, name const& label, mesh_shape const& mesh,
                                      layout_rules const& rules, std::span<dim_extent const> extents,
                                      device_capabilities const& capabilities = {}, pass_observer* observer = nullptr) {
  std::unique_ptr<lowering> result(new lowering{});
  result->graph =
      *run_passes(whole, {label, mesh, rules, capabilities}, passes_of(pass_input::program), pass_count, observer);
  raise(verify_waits(result->graph).report);
  auto const bound = on_heap([&] { return meshtensor::bind(result->graph, mesh, extents); });
  raise(bound->report);
  result->entry = find_entry(result->graph, label);
  if (observer != nullptr) observer->begins("plan_memory");
  result->planned = plan_memory(result->graph, result->entry, *bound);
  if (observer != nullptr) observer->ends("plan_memory", result->graph);
  raise(verify_plan(result->graph, result->entry, result->planned).report);
  return result;
}
/// Lowers the entry called `label` of a traced module.
template <class = lazy>
std::unique_ptr<lowering> lower(module const& traced, name const& label, mesh_shape const& mesh,
                                layout_rules const& rules, std::span<dim_extent const> extents,
                                device_capabilities const& capabilities = {}, pass_observer* observer = nullptr) {
  return lower_whole(*whole_entry(traced, label, observer), label, mesh, rules, extents, capabilities, observer);
}

/// Plans an entry that the compiler has lowered, for a mesh and extents that are known only at start-up.
///
/// errors  S codes of `bind`
template <class = lazy>
std::unique_ptr<plan> plan_at_start(module const& graph, int entry, mesh_shape const& mesh,
                                    std::span<dim_extent const> extents) {
  auto const bound = on_heap([&] { return bind(graph, mesh, extents); });
  raise(bound->report);
  auto planned = on_heap([&] { return plan_memory(graph, entry, *bound); });
  raise(verify_plan(graph, entry, *planned).report);
  return planned;
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
