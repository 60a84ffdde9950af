// SPDX-License-Identifier: Apache-2.0
// Lowers a program to the plan of one rank: the pipeline of all passes. Every line is a value that can be printed,
// drawn, verified and interpreted; the same functions run in the compiler and at start-up.
#pragma once

#include <memory>

#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/pass/device_capabilities.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/extract_entry.hpp"
#include "meshtensor/pass/fingerprint.hpp"
#include "meshtensor/pass/fuse.hpp"
#include "meshtensor/pass/inline_composites.hpp"
#include "meshtensor/pass/overlap.hpp"
#include "meshtensor/pass/partition.hpp"
#include "meshtensor/pass/plan_memory.hpp"
#include "meshtensor/pass/prune.hpp"
#include "meshtensor/pass/save_or_recompute.hpp"
#include "meshtensor/pass/simplify.hpp"
#include "meshtensor/pass/slice_collectives.hpp"
#include "meshtensor/pass/verify.hpp"
#include "meshtensor/pass/verify_plan.hpp"
#include "meshtensor/pass/verify_waits.hpp"

namespace meshtensor {

/// The module, fused if the device runs kernels.
constexpr module fuse(module const& m, device_capabilities const& capabilities) {
  if (!capabilities.fuses) return m;
  return fuse(prune(inline_composites(m, capabilities.claims)));  // some results of a composite may be unused
}

// From here to `lowered` each line is one constant evaluation, so that the compiler's limits apply to each alone, and
// uses with the same arguments share it: a set of programs is traced once, whatever the meshes, layouts and devices.
namespace detail {

template <class Programs>
// One compiler reports a program that it cannot trace by showing this line:
inline constexpr module traced = try_trace<Programs>();  // program_error<not constexpr, or past -fconstexpr-steps>

/// Two source files may each have a `struct step`: the hash of the trace tells their instantiations apart, or the
/// linker would take one for both.
template <class Programs>
inline constexpr std::uint64_t fingerprint_of = fingerprint(traced<Programs>);

template <class Programs, std::uint64_t Mark>
struct traced_programs {
  static constexpr module traced = detail::traced<Programs>;
};

template <class Programs, class Entry, std::uint64_t Mark>
struct whole_program : traced_programs<Programs, Mark> {
  static_assert(is_valid<detail::traced<Programs>>);  // nvcc would take the address of a member
  static constexpr module selected =
      extract_entry(whole_program::traced, find_entry(whole_program::traced, entry_name<Entry>()));
  static constexpr module differentiated = differentiate(selected);
  static constexpr module saved = save_or_recompute(differentiated);
  static constexpr module simplified = simplify(saved);
};

template <class Programs, class Entry, mesh_type Mesh, layout_type Layout, std::uint64_t Mark>
struct partitioned_program : whole_program<Programs, Entry, Mark> {
  static constexpr module partitioned = partition(partitioned_program::simplified, Mesh::shape, Layout::rules);
  static constexpr module sliced = slice_collectives(partitioned);
};

template <class Programs, class Entry, mesh_type Mesh, layout_type Layout, class Device, std::uint64_t Mark>
struct program_of_processor : partitioned_program<Programs, Entry, Mesh, Layout, Mark> {
  static constexpr module fused = fuse(program_of_processor::sliced, capabilities_of<Device>);
  static constexpr module graph = overlap(fused);
  static constexpr graph_check awaited = verify_waits(graph);
  static constexpr early_check checked = check_early(graph);
  static constexpr binding bound = bind(graph, Mesh::shape);
  static constexpr plan planned = plan_memory(graph, find_entry(graph, entry_name<Entry>()), bound);
  static constexpr graph_check plan_checked = verify_plan(graph, find_entry(graph, entry_name<Entry>()), planned);
};

}  // namespace detail

/// One entry of a program set, lowered in the compiler: `graph` is the program of one rank, `planned` its plan.
template <class Programs, class Entry, mesh_type Mesh, layout_type Layout, class Device = void,
          std::uint64_t Mark = detail::fingerprint_of<Programs>>
struct lowered : detail::program_of_processor<Programs, Entry, Mesh, Layout, capable_device<Device>, Mark> {};

/// The result of `f`, constructed on the heap: modules are too large for the stacks of threads.
template <class F>
auto on_heap(F const& f) {
  using made = decltype(f());
  return std::unique_ptr<made>(new made(f()));
}

/// Like `on_heap`, and verifies the module: an error is a bug in the pass.
template <class F>
auto verified(F const& f) {
  auto made = on_heap(f);
  raise(verify(*made));
  return made;
}

/// Extracts the entry called `label` on whole tensors, with its gradients, ready for `partition`.
inline std::unique_ptr<module> whole_entry(module const& traced, name const& label) {
  auto const selected = verified([&] { return extract_entry(traced, find_entry(traced, label)); });
  auto const differentiated = verified([&] { return differentiate(*selected); });
  auto const saved = verified([&] { return save_or_recompute(*differentiated); });
  return verified([&] { return simplify(*saved); });
}

/// An entry lowered at start-up: its structure, bound to numbers that are known only now.
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
                                      device_capabilities const& capabilities = {}) {
  std::unique_ptr<lowering> result(new lowering{});
  auto const partitioned = verified([&] { return partition(whole, mesh, rules); });
  auto const sliced = verified([&] { return slice_collectives(*partitioned); });
  auto const fused = verified([&] { return fuse(*sliced, capabilities); });
  result->graph = overlap(*fused);
  raise(verify(result->graph));
  raise(verify_waits(result->graph).report);
  auto const bound = on_heap([&] { return meshtensor::bind(result->graph, mesh, extents); });
  raise(bound->report);
  result->entry = find_entry(result->graph, label);
  result->planned = plan_memory(result->graph, result->entry, *bound);
  raise(verify_plan(result->graph, result->entry, result->planned).report);
  return result;
}
/// Lowers the entry called `label` of a traced module.
template <class = lazy>
std::unique_ptr<lowering> lower(module const& traced, name const& label, mesh_shape const& mesh,
                                layout_rules const& rules, std::span<dim_extent const> extents,
                                device_capabilities const& capabilities = {}) {
  return lower_whole(*whole_entry(traced, label), label, mesh, rules, extents, capabilities);
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
extern template std::unique_ptr<lowering> lower<lazy>(module const&, name const&, mesh_shape const&,
                                                      layout_rules const&, std::span<dim_extent const>,
                                                      device_capabilities const&);
extern template std::unique_ptr<plan> plan_at_start<lazy>(module const&, int, mesh_shape const&,
                                                          std::span<dim_extent const>);
#endif

}  // namespace meshtensor
