// SPDX-License-Identifier: Apache-2.0
// Runs programs on ranks and checks what they send: during a step each rank makes the MPI calls of the plan's
// collectives, each function as often as planned and with the bytes planned, and no other; a report gives the same
// bytes. For one file of an executable.
#pragma once

#include "meshtensor/job/mpi_runner.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/run/by_transport.hpp"
#include "mpi/counted.hpp"
#include "mpi/ranks.hpp"
#include "property/outcome.hpp"

namespace traffic {

using namespace property;

struct sent {
  std::map<std::string, int> calls;
  std::map<std::string, std::int64_t> received;
};

/// Adds the calls that the table gives for one collective of member `me` of `p`, as often as it runs; `at` are the
/// positions of a move.
inline void add_planned(sent& all, mt::collective_call const& call, int p, int me, std::int64_t times,
                        mt::positions at = {}) {
  using f = mt::comm::mpi_function;
  std::map<f, char const*> const names{{f::iallgather, "iallgather"}, {f::iallgatherv, "iallgatherv"},
                                       {f::ialltoall, "ialltoall"},   {f::ialltoallv, "ialltoallv"},
                                       {f::ibcast, "ibcast"},         {f::igatherv, "igatherv"}};
  mt::comm::mpi_algorithm const form = mt::comm::mpi_algorithm_of(call, p, mt::reductions::ordered);
  if (form.first == f::isend_irecv) {  // one message for each pair that exchanges anything
    auto const between = [&](int from, int to) -> std::int64_t {
      if (call.kind == mt::collective::move)
        return mt::comm::moved_elements(*call.moves, at, from, to) * static_cast<std::int64_t>(mt::bytes_of(call.type));
      if (call.kind == mt::collective::reduce) return to == call.root ? mt::bytes_of(call) : 0;
      return mt::comm::taken(call, p, from, to).bytes;
    };
    for (int j = 0; j < p; ++j) {
      if (j == me) continue;
      if (std::int64_t const n = between(j, me); n != 0)
        all.calls["irecv"] += static_cast<int>(times), all.received["irecv"] += times * n;
      if (between(me, j) != 0) all.calls["isend"] += static_cast<int>(times), all.received["isend"] += 0;
    }
    return;
  }
  if (form.first == f::steps) {
    int const messages = mt::reduction_steps(p).received(me);
    all.calls["irecv"] += messages * static_cast<int>(times), all.calls["isend"] += messages * static_cast<int>(times);
    all.received["irecv"] += times * mt::received_bytes_of(call, p, me), all.received["isend"] += 0;
    return;
  }
  std::int64_t const bytes = mt::received_bytes_of(call, p, me);
  std::int64_t const n = mt::elements_of(call), each = mt::bytes_of(call) / std::max<std::int64_t>(n, 1);
  std::int64_t later = 0;  // by the second call: every part of the result but this rank's
  bool const gets_result = call.kind != mt::collective::reduce || me == call.root;
  if (form.second != f::none && gets_result) later = (n - mt::part_of(n, p, me).count) * each;
  auto const add = [&](f function, std::int64_t received) {
    if (function == f::none) return;
    all.calls[names.at(function)] += static_cast<int>(times);
    all.received[names.at(function)] += times * received;
  };
  add(form.first, bytes - later);
  add(form.second, later);
}

/// The same for a planned one: a slice of a loop's stack has another root in each iteration.
inline void add_planned(sent& all, mt::planned_collective const& c, std::int64_t times, mt::positions at = {}) {
  if (c.slices.empty()) return add_planned(all, c.call, c.with.count, c.with.index, times, at);
  std::int64_t trips = 0;
  for (mt::interval const& s : c.slices) trips += s.count;
  mt::collective_call call = c.call;
  for (call.root = 0; call.root < c.with.count; ++call.root)
    add_planned(all, call, c.with.count, c.with.index,
                times / trips * c.slices[static_cast<std::size_t>(call.root)].count);
}

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
    sent planned;
    bool alike = true;  // all ranks receive as much as the first one, of which the report tells
    for (int v = 0; v < low.graph.value_count; ++v)
      for (int d = 0; d < low.graph.values[v].dims.count; ++d)
        alike = alike && low.planned.numbers.is_even(low.graph.values[v], d);
    auto const times = mt::run_counts_of(low.graph, low.planned.numbers);
    for (int i = 0; i < low.graph.node_count; ++i) {
      mt::node const& n = low.graph.nodes[i];
      kernels += n.kind == mt::primitive::kernel;
      if (!mt::is_collective(n.kind)) continue;
      ++kinds[n.kind];
      alike = alike && n.kind != mt::primitive::move && mt::collective_attributes::of_slices(low.graph, n) == mt::no_id;
      if (mt::goes_with_another(low.planned, i)) continue;
      auto const alone = low.planned.joined[i] == 0;
      joined += !alone;
      mt::rank_context const& mine = run.held()[0];
      auto const which = static_cast<mt::node_id>(i);
      if (mt::shifts(n)) {
        auto const a = mt::move_attributes::of(n);
        auto const at = mt::known_positions(low.graph, low.planned.numbers, a.first, a.step);
        REQUIRE(at);
        add_planned(planned, mine.exchange(which), times.of[n.region], *at);
      } else if (alone) add_planned(planned, mine.exchange(which), times.of[n.region]);
      else add_planned(planned, mt::joined_exchange(low.graph, low.planned, mine, which), times.of[n.region]);
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
