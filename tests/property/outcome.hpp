// SPDX-License-Identifier: Apache-2.0
// Runs a program with any job, and returns every bit that each processor holds at the end.
#pragma once

#include <cstddef>
#include <functional>

#include "property/program.hpp"

namespace property {

/// The bytes that a processor holds of an output or variable, by step, name and rank.
using outcome = std::map<std::string, std::vector<std::byte>>;

/// On any device.
template <class Device>
outcome run_on(mt::job const& job, mt::module const& graph, mt::plan const& plan, int entry, mt::mesh_shape const& mesh,
               mt::blocks const& inputs, std::vector<std::string> const& outputs, int steps) {
  mt::store values(job, 5);
  mt::session<Device> run(values, graph, plan, mesh, entry);
  for (auto const& [label, b] : inputs) run.feed(label, b.data());
  outcome all;
  auto const keep = [&](std::string const& label, int step, int rank, void const* data, std::int64_t bytes) {
    auto const* first = static_cast<std::byte const*>(data);
    all[std::to_string(step) + " " + label + " " + std::to_string(rank)].assign(first, first + bytes);
  };
  for (int t = 0; t < steps; ++t) {
    run.step();
    for (std::size_t k = 0; k < run.held().size(); ++k) {
      int const rank = run.held()[k].rank();
      for (auto const& label : outputs) {
        mt::view const v = run.local(label, k);
        keep(label, t, rank, v.data, v.bytes());
      }
      for (auto& [path, s] : values.values()) keep(path, t, rank, s.block_of(k), s.windows[k].bytes());
    }
  }
  return all;
}

/// On the reference device.
outcome run_with(mt::job const& job, mt::module const& graph, mt::plan const& plan, int entry,
                 mt::mesh_shape const& mesh, mt::blocks const& inputs, std::vector<std::string> const& outputs,
                 int steps);
inline outcome run_with(mt::job const& job, mt::lowering const& low, mt::mesh_shape const& mesh,
                        mt::blocks const& inputs, std::vector<std::string> const& outputs, int steps) {
  return run_with(job, low.graph, low.planned, low.entry, mesh, inputs, outputs, steps);
}

/// The names of a program's outputs, and inputs to try it on.
std::vector<std::string> outputs_of(mt::module const& traced);
mt::blocks inputs_of(mt::module const& traced, mt::name const& entry);

/// Calls f(lowering, inputs, outputs) for a program under three legal layouts of a mesh: data parallel, and two random
/// ones with lists of axes and scopes.
using on_lowering = std::function<void(mt::lowering const&, mt::blocks const&, std::vector<std::string> const&)>;
void each_of_three(listed const& program, mt::mesh_shape const& mesh, on_lowering const& f);

/// Checks that the compiler's graph and plan are those of start-up, bit for bit, and give the same results.
void check_twin(mt::module const& traced, mt::name const& entry, mt::mesh_shape const& mesh,
                mt::layout_rules const& rules, mt::module const& graph, mt::plan const& plan, int entry_place);

}  // namespace property
