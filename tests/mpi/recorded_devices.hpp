// SPDX-License-Identifier: Apache-2.0
// The laws of devices with memory of their own on ranks of MPI: every bit of another job.
#pragma once

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"
#include "property/one_training.hpp"
#include "property/outcome.hpp"
#include "property/sample.hpp"

namespace recorded {

using namespace property;

/// One or two axes that make up these ranks.
inline mt::mesh_shape mesh_of(int ranks) {
  mt::mesh_shape mesh{};
  if (ranks % 2 == 0 && ranks > 2) return mesh.add("ax", 2).add("by", ranks / 2);
  return mesh.add("ax", ranks);
}
/// What this rank holds that the other job's processors do not hold bit for bit.
inline int differences(outcome const& mine, outcome const& all) {
  int different = 0;
  for (auto const& [key, bytes] : mine) different += all.at(key) != bytes;
  return different;
}

/// Twenty losses of a Transformer on every mesh of as many processors as there are ranks. `Oracle` runs in lockstep.
template <class Device, class Oracle>
void hold_in_training(mt::job const& ranks) {
  auto const turns = mt::job::in_lockstep();
  auto const traced = training::traced_in<mt::dtype::f32>();
  std::vector<training::spread> all = training::all_spreads();
  all.push_back({"data parallel, on three", mt::mesh_shape{}.add("data", 3), training::by_data()});
  int compared = 0;
  for (training::spread const& how : all) {
    if (how.mesh.size() != ranks.get().size()) continue;
    INFO(std::string(how.what));
    training::course const mine = training::train(ranks, *traced, how, Device()),
                           wanted = training::train(turns, *traced, how, Oracle());
    REQUIRE(mine.losses.size() == training::steps);
    CHECK(mine.losses == wanted.losses);
    CHECK(mine.losses.back() < mine.losses.front() - 0.5);
    CHECK(mine.held.size() * static_cast<std::size_t>(how.mesh.size()) == wanted.held.size());
    CHECK(differences(mine.held, wanted.held) == 0);
    ++compared;
  }
  CHECK(compared >= 1);
}

/// Programs of the catalogue, each under three layouts, of which most have uneven parts. The number of runs.
template <class Device, class Oracle>
int hold_in_catalogue(mt::job const& ranks, std::vector<listed> const& programs) {
  auto const turns = mt::job::in_lockstep();
  mt::mesh_shape const mesh = mesh_of(ranks.get().size());
  int compared = 0;
  for (listed const& program : programs)
    each_of_three(
        program, mesh, [&](mt::lowering const& low, mt::blocks const& inputs, std::vector<std::string> const& outputs) {
          int const steps = low.graph.node_count > 600 ? 2 : 3;
          auto const on = [&]<class D>(mt::job const& job) {
            return run_on<D>(job, low.graph, low.planned, low.entry, mesh, inputs, outputs, steps);
          };
          outcome const mine = on.template operator()<Device>(ranks), all = on.template operator()<Oracle>(turns);
          CHECK(mine.size() * static_cast<std::size_t>(mesh.size()) == all.size());
          CHECK(differences(mine, all) == 0);
          ++compared;
        });
  return compared;
}

}  // namespace recorded
