// What runs is what the plan says: during a step each rank makes the MPI calls of the plan's collectives, each function
// as often as planned and with the bytes planned, and no other; a report gives the same bytes.
//
// ranks: 2 3 4 6
// timeout: 300
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/run/mpi_job.hpp"
#include "mpi/counted.hpp"
#include "mpi/ranks.hpp"
#include "property/outcome.hpp"

using namespace property;

namespace {

struct sent {
  std::map<std::string, int> calls;
  std::map<std::string, std::int64_t> received;
};

/// Adds the calls that the table gives for one collective, as often as it runs.
void add_planned(sent& all, mt::planned_collective const& c, std::int64_t times) {
  using f = mt::comm::mpi_function;
  std::map<f, char const*> const names{{f::iallgather, "iallgather"},
                                       {f::iallgatherv, "iallgatherv"},
                                       {f::ialltoall, "ialltoall"},
                                       {f::ialltoallv, "ialltoallv"}};
  int const p = c.with.count;
  mt::comm::mpi_form const form = mt::comm::mpi_form_of(c.call, p, mt::reductions::ordered);
  std::int64_t const bytes = mt::received_bytes_of(c.call, p, c.with.index);
  std::int64_t const n = mt::elements_of(c.call), each = mt::bytes_of(c.call) / std::max<std::int64_t>(n, 1);
  std::int64_t later = 0;  // by the second call: every part of the result but this rank's
  if (form.second != f::none) later = (n - mt::part_of(n, p, c.with.index).count) * each;
  auto const add = [&](f function, std::int64_t received) {
    if (function == f::none) return;
    all.calls[names.at(function)] += static_cast<int>(times);
    all.received[names.at(function)] += times * received;
  };
  add(form.first, bytes - later);
  add(form.second, later);
}

mt::mesh_shape mesh_of(int ranks) {
  mt::mesh_shape mesh{};
  if (ranks % 2 == 0 && ranks > 2) mesh.add("ax", 2).add("by", ranks / 2);
  else mesh.add("ax", ranks);
  return mesh;
}

struct trial {
  mt::processors const ranks{std::make_unique<mt::mpi_job>(MPI_COMM_WORLD)};
  mt::mesh_shape const mesh = mesh_of(ranks.get().size());
  int runs = 0;
  std::map<mt::primitive, int> kinds;
  std::map<std::string, int> functions;

  /// Two steps of a program, each call of which is counted.
  void add(mt::lowering const& low, mt::blocks const& inputs) {
    mt::store values(ranks, 5);
    mt::session<mt::reference_device> run(values, low.graph, low.planned, mesh, low.entry);
    sent planned;
    auto const times = mt::run_counts_of(low.graph, low.planned.numbers);
    for (int i = 0; i < low.graph.node_count; ++i) {
      mt::node const& n = low.graph.nodes[i];
      if (!mt::is_collective(n.kind)) continue;
      add_planned(planned, run.held()[0].exchange(static_cast<mt::id>(i)), times.of[n.region]);
      ++kinds[n.kind];
    }
    for (auto const& [label, b] : inputs) run.feed(label, b.data());
    std::int64_t const reported = mt::traffic_of(low.graph, low.planned.numbers).bytes;
    for (int t = 0; t < 2; ++t) {
      counted::clear();
      run.step();
      sent const made{counted::calls_made, counted::received};
      CHECK(made.calls == planned.calls);
      CHECK(made.received == planned.received);
      if (run.held()[0].rank() == 0) CHECK(counted::all_received() == reported);
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
    add(*mt::lower(*traced, program.entry, mesh, rules, {}), inputs_of(*traced, program.entry));
  }
};

}  // namespace

TEST_CASE("the calls of a step are those of its plan") {
  trial t;
  for (char const* label : {"contractions", "lookups", "asked", "mlp", "recurrent in f32", "classifier in f32",
                            "attending", "language_model in f32"})
    t.add(label);
  t.add_spread("mlp");
  CHECK(t.runs == 8 * 3 + 1);
  for (mt::primitive kind :
       {mt::primitive::all_reduce, mt::primitive::reduce_scatter, mt::primitive::all_gather, mt::primitive::all_to_all})
    CHECK_MESSAGE(t.kinds[kind] > 0, std::string(mt::text_of(kind)));
  for (char const* function : {"iallgather", "ialltoall"})
    CHECK_MESSAGE(t.functions[function] > 0, std::string(function));
  if (ranks::rank() == 0)
    for (auto const& [function, count] : t.functions) MESSAGE(function << ": " << count << " planned and made");
}
