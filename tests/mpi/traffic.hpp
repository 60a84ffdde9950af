// SPDX-License-Identifier: Apache-2.0
// Runs programs on ranks and checks what they send: during a step each rank makes the MPI calls of the plan's
// collectives, each function as often as planned and with the bytes planned, and no other; a report gives the same
// bytes. For one file of an executable.
#pragma once

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/counted.hpp"
#include "mpi/planned_calls.hpp"
#include "mpi/ranks.hpp"
#include "property/outcome.hpp"

namespace traffic {

using namespace property;

inline mt::mesh_shape mesh_of(int ranks) {
  mt::mesh_shape mesh{};
  if (ranks % 2 == 0 && ranks > 2) mesh.add("ax", 2).add("by", ranks / 2);
  else mesh.add("ax", ranks);
  return mesh;
}

template <class Device>
struct trial {
  Device const device;
  mt::job const ranks{std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)};
  mt::mesh_shape const mesh = mesh_of(ranks.get().size());
  int runs = 0, kernels = 0, joined = 0;
  std::map<mt::primitive, int> kinds;
  std::map<std::string, int> functions;

  explicit trial(Device const& d) : device(d) {}

  /// Two steps of a program, each call of which is counted.
  void add(mt::lowering const& low, mt::blocks const& inputs) {
    mt::store values(ranks, 5);
    mt::session<Device> run(values, low.graph, low.planned, mesh, low.entry, device);
    sent const planned = calls_of(low.graph, low.planned, run.held()[0]);
    bool alike = true;  // all ranks receive as much as the first one, of which the report tells
    for (int v = 0; v < low.graph.value_count; ++v)
      for (int d = 0; d < low.graph.values[v].dims.count; ++d)
        alike = alike && low.planned.numbers.is_even(low.graph.values[v], d);
    for (int i = 0; i < low.graph.node_count; ++i) {
      mt::node const& n = low.graph.nodes[i];
      kernels += n.kind == mt::primitive::kernel;
      if (!mt::is_collective(n.kind)) continue;
      ++kinds[n.kind];
      alike = alike && n.kind != mt::primitive::move && mt::collective_attributes::of_slices(low.graph, n) == mt::no_id;
      joined += low.planned.joined[i] != 0 && !mt::goes_with_another(low.planned, i);
    }
    for (auto const& [label, b] : inputs) run.feed(label, b.data());
    std::int64_t const reported = mt::traffic_of(low.graph, low.planned).bytes;
    for (int t = 0; t < 2; ++t) {
      counted::clear();
      run.step();
      sent const made{counted::calls_made, counted::received};
      CHECK(made.calls == planned.calls);
      CHECK(made.received == planned.received);
      if (run.held()[0].rank() == 0 && alike) CHECK(counted::all_received() == reported);
      else CHECK(counted::all_received() <= reported);
    }
    for (auto const& [function, count] : planned.calls) functions[function] += count;
    ++runs;
  }

  void add(char const* label) {
    each_of_three(
        program_named(label), mesh,
        [&](mt::lowering const& low, mt::blocks const& inputs, std::vector<std::string> const&) { add(low, inputs); });
  }

  /// Data parallel, with the optimizer's state spread.
  void add_spread(char const* label) {
    listed const& program = program_named(label);
    auto const traced = program.trace();
    auto const rules = mt::layout_rules{}.shard("batch", {"ax"}).shard("model", {"ax"}, "optimizer");
    add(*mt::lower(*traced, program.entry, mesh, rules, {}, mt::capabilities_of<Device>),
        inputs_of(*traced, program.entry));
  }
  /// Data parallel, each layer's parameters and state on one processor.
  void add_apart(char const* label) {
    listed const& program = program_named(label);
    auto const traced = program.trace();
    auto const rules = mt::layout_rules{}.shard("batch", {"ax"}).shard("layers", {"ax"});
    add(*mt::lower(*traced, program.entry, mesh, rules, {}, mt::capabilities_of<Device>),
        inputs_of(*traced, program.entry));
  }
};

}  // namespace traffic
