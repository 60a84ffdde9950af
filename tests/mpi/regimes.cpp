// SPDX-License-Identifier: Apache-2.0
// Replicas on ranks of MPI: every bit is that of all replicas on one processor. With six replicas, some of four and
// eight ranks have one replica, two or none.
// ranks: 2 3 4 6 8
// needs: mpi
// passes: start-up
// timeout: 300
#include "property/outcome.hpp"
#include "property/regime_programs.hpp"

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"

using namespace property;

TEST_CASE("replicas on ranks and on one processor are one") {
  mt::job const ranks(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)), turns = mt::job::in_lockstep();
  auto const mesh = mt::mesh_shape{}.add("ax", ranks.get().size());
  auto const rules = mt::layout_rules{}.shard("replica", {"ax"});
  for (regimes::listed_regime const& r : regimes::all()) {
    INFO(std::string(r.label));
    auto const traced = r.trace();
    auto const inputs = inputs_of(*traced, r.entry);
    auto const outputs = outputs_of(*traced);
    auto const spread = mt::lower(*traced, r.entry, mesh, rules, {});
    outcome const all = run_with(turns, *spread, mesh, inputs, outputs, 3);
    outcome const mine = run_with(ranks, *spread, mesh, inputs, outputs, 3);
    CHECK(mine.size() * static_cast<std::size_t>(mesh.size()) == all.size());
    int different = 0;
    for (auto const& [key, bytes] : mine) different += all.at(key) != bytes;
    CHECK(different == 0);
  }
}
