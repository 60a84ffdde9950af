// SPDX-License-Identifier: Apache-2.0
// A program run by a job, whatever its transport: every bit that each processor ends up with.
#pragma once

#include <cstddef>
#include <functional>

#include "property/program.hpp"

namespace property {

/// By step, name and rank: what the processor holds of an output or variable.
using outcome = std::map<std::string, std::vector<std::byte>>;

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

/// Calls f(lowering, inputs, outputs) for a program under three legal layouts of a mesh: data parallel, then two
/// that are drawn, with lists of axes and scopes.
using on_lowering = std::function<void(mt::lowering const&, mt::blocks const&, std::vector<std::string> const&)>;
void each_of_three(listed const& program, mt::mesh_shape const& mesh, on_lowering const& f);

/// A graph and plan made by the compiler are those that start-up makes, bit for bit, and give the same when they run.
void check_twin(mt::module const& traced, mt::name const& entry, mt::mesh_shape const& mesh,
                mt::layout_rules const& rules, mt::module const& graph, mt::plan const& plan, int entry_place);

}  // namespace property
