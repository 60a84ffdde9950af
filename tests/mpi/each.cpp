// SPDX-License-Identifier: Apache-2.0
// Programs in an each, with its dim sharded over ranks of MPI: every bit is that of the same mesh in turns on one
// thread. With two indices, some of three and more ranks have none.
// ranks: 2 3 4 6
// needs: mpi
// passes: start-up
// timeout: 300
#include "property/in_each.hpp"
#include "property/outcome.hpp"

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"

using namespace property;

TEST_CASE("indices on ranks and in turns are one") {
  mt::job const ranks(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)), turns = mt::job::in_lockstep();
  auto const mesh = mt::mesh_shape{}.add("ax", ranks.get().size());
  auto const rules = mt::layout_rules{}.shard("index", {"ax"});
  int compared = 0;
  for (char const* label : {"mlp", "recurrent", "noise", "movements", "decided", "memories", "penalised"})
    for (std::int64_t const extent : {2, 5}) {
      listed const& p = program_named(label);
      in_each const each(*unwatched(*p.trace()), extent);
      auto const low = mt::lower(*each.graph, p.entry, mesh, rules, {});
      auto const inputs = inputs_of(*each.graph, p.entry);
      auto const outputs = outputs_of(*each.graph);
      INFO(std::string(label) << ", " << extent << " indices");
      outcome const all = run_with(turns, *low, mesh, inputs, outputs, 2);
      outcome const mine = run_with(ranks, *low, mesh, inputs, outputs, 2);
      CHECK(mine.size() * static_cast<std::size_t>(mesh.size()) == all.size());
      int different = 0;
      for (auto const& [key, bytes] : mine) different += all.at(key) != bytes;
      CHECK(different == 0);
      ++compared;
    }
  if (ranks.is_root()) MESSAGE(compared << " runs compared");
  CHECK(compared == 14);
}
