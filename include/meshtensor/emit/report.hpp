// SPDX-License-Identifier: Apache-2.0
// Prints a plan as text before anything runs: the values that every rank stores, its collectives, its arithmetic and
// its memory.
#pragma once

#include <string>

#include "meshtensor/base/quantity.hpp"
#include "meshtensor/emit/report/collectives.hpp"
#include "meshtensor/emit/report/dims.hpp"
#include "meshtensor/emit/report/memory.hpp"
#include "meshtensor/emit/report/uneven_dims.hpp"
#include "meshtensor/emit/report/variables.hpp"

namespace meshtensor {
namespace detail {

/// The arithmetic of a rank in a step, and how much more the busiest rank does than the mean.
inline std::string computation_text(module const& m, binding const& numbers, mesh_shape const& mesh, bool is_uneven) {
  computed const c = work_of(m, numbers);
  run_counts const runs = run_counts_of(m, numbers);
  bool is_limit = false;
  for (int g = 0; g < m.region_count; ++g) is_limit = is_limit || (runs.of[g] != 0 && runs.at_most[g]);
  std::string r = "\ncomputation: a rank does " + std::string(limit_text(is_limit)) + rounded(c.all()) +
                  "flop a step, " + rounded(c.products) + "flop of them in products\n";
  if (!is_uneven) return r;
  double all = 0;
  for (std::int64_t rank = 0; rank < mesh.size(); ++rank) {
    computed const one = work_of(m, numbers, held_by{numbers, mesh, rank});
    all += static_cast<double>(one.all());
  }
  double const mean = all / static_cast<double>(mesh.size()), most = static_cast<double>(c.all());
  if (most > mean * 1.005)
    r += "that is the busiest one: it does " + ratio(most / mean) + " times the mean, for which the others wait\n";
  return r;
}

}  // namespace detail

/// The plan of one rank as text: the mesh, every parameter with its layout and bytes, the collectives, the operations
/// and the memory. The memory comes with the values in it when it is fullest. Each collective has its axes, the number
/// of its runs in a step, the bytes that a rank receives by it and the user's line that caused it. The costliest
/// collective comes first. Nothing runs, and no memory of the plan's size is needed.
template <class = lazy>
std::string report(module const& graph, plan const& planned, mesh_shape const& mesh) {
  binding const& numbers = planned.numbers;
  detail::variables_of_report const variables(graph, numbers);
  std::string const uneven = detail::uneven_dims_of_report(graph, numbers, mesh).text();
  return detail::dims_of_report(graph, numbers, mesh).text() + uneven + variables.text("parameters", true) +
         variables.text("state", false) + detail::collectives_of_report(graph, planned).text() +
         detail::computation_text(graph, numbers, mesh, !uneven.empty()) +
         detail::memory_of_report(graph, planned).text();
}

#if MESHTENSOR_COMPILED
extern template std::string report<lazy>(module const&, plan const&, mesh_shape const&);
#endif

}  // namespace meshtensor
