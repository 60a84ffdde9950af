// SPDX-License-Identifier: Apache-2.0
// Ranks of MPI give what the same mesh gives in turns on one thread: every bit of every output and variable.
// ranks: 2 3 4 6
// needs: mpi
// timeout: 600
#include "property/outcome.hpp"

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"

using namespace property;

namespace {

mt::mesh_shape mesh_of(int ranks) {
  mt::mesh_shape mesh{};
  if (ranks % 2 == 0 && ranks > 2) mesh.add("ax", 2).add("by", ranks / 2);
  else mesh.add("ax", ranks);
  return mesh;
}

}  // namespace

TEST_CASE("ranks and lockstep are one") {
  mt::job const ranks(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)), turns = mt::job::in_lockstep();
  mt::mesh_shape const mesh = mesh_of(ranks.get().size());
  std::size_t compared = 0;
  for (std::size_t k = 0; k < in_f64; ++k)
    each_of_three(catalogue()[k], mesh,
                  [&](mt::lowering const& low, mt::blocks const& inputs, std::vector<std::string> const& outputs) {
                    int const steps =
                        low.graph.node_count > 600 ? 1 : 2;  // many small messages among more ranks than cores
                    outcome const all = run_with(turns, low, mesh, inputs, outputs, steps);
                    outcome const mine = run_with(ranks, low, mesh, inputs, outputs, steps);
                    CHECK(mine.size() * static_cast<std::size_t>(mesh.size()) == all.size());
                    int different = 0;
                    for (auto const& [key, bytes] : mine) different += all.at(key) != bytes;
                    CHECK(different == 0);
                    ++compared;
                  });
  if (ranks.is_root()) MESSAGE(compared << " runs compared");
  CHECK(compared == in_f64 * 3);
}
