// The plan of an executable as text, with or without the processors that it is for.
#pragma once

#include <string>
#include <vector>

#include "meshtensor/emit/report.hpp"
#include "meshtensor/run/executable.hpp"

namespace meshtensor {

/// What an executable does on each processor: `mt::print(job, "{}", mt::explain(step))`. See emit/report.hpp.
template <class... Args>
std::string explain(executable<Args...> const& e) {
  return report(e.graph(), e.planned(), e.processors_mesh());
}

/// The same for a mesh that need not be here: `mt::explain<step>(data(64), model(8), batch(512))`, where `step` is the
/// type of an executable. Nothing is started and no memory taken.
///
/// errors  S codes: what does not fit
template <class Executable, class... Extents>
std::string explain(Extents const&... extents) {
  using stages = typename Executable::stages;
  mesh_shape mesh = Executable::mesh::shape;
  std::vector<dim_extent> dims;
  [[maybe_unused]] auto take = [&](auto const& e) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(e)>, axis_extent>) mesh.bind(e);
    else dims.push_back(e);
  };
  (take(extents), ...);
  auto const bound = on_heap([&] { return meshtensor::bind(stages::graph, mesh, dims); });
  raise(bound->report);
  int const entry = find_entry(stages::graph, entry_name<typename Executable::entry>());
  auto const planned = on_heap([&] { return plan_memory(stages::graph, entry, *bound); });
  return report(stages::graph, *planned, mesh);
}

}  // namespace meshtensor
