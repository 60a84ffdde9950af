// SPDX-License-Identifier: Apache-2.0
// The law of tests/mpi/training*.cpp, for any device.
#pragma once

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"
#include "property/one_training.hpp"

namespace training {

/// Trains on every mesh of as many processors as there are ranks. Each rank's losses and parts of all variables
/// are those of lockstep, and so are those of threads.
template <mt::dtype Type = mt::dtype::f32, class Device>
void hold_on_ranks(Device const& device) {
  mt::job const ranks(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)), turns = mt::job::in_lockstep();
  auto const traced = traced_in<Type>();
  int compared = 0;
  for (spread const& how : all_spreads()) {
    if (how.mesh.size() != ranks.get().size()) continue;
    INFO(std::string(how.what));
    course const mine = train(ranks, *traced, how, device), all = train(turns, *traced, how, device);
    REQUIRE(mine.losses.size() == steps);
    CHECK(mine.losses == all.losses);
    CHECK(mine.losses.back() < mine.losses.front() - 0.5);
    CHECK((mine.kernels > 0) == mt::capabilities_of<Device>.fuses);
    CHECK(mine.held.size() * static_cast<std::size_t>(how.mesh.size()) == all.held.size());
    int different = 0;
    for (auto const& [key, bytes] : mine.held) different += all.held.at(key) != bytes;
    CHECK(different == 0);
    if (ranks.is_root()) {
      course const together = train(mt::job::as_threads(), *traced, how, device);
      CHECK(together.losses == all.losses);
      CHECK(together.held == all.held);
    }
    ++compared;
  }
  CHECK(compared >= 1);
}

}  // namespace training
