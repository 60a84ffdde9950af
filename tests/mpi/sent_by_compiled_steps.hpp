// SPDX-License-Identifier: Apache-2.0
// Runs a compiled step on ranks and checks its MPI calls: those of the plan, and as many messages and bytes as its
// constants say. For one file of an executable.
#pragma once

#include "mpi/counted.hpp"

#include <doctest/doctest.h>

#include "meshtensor/meshtensor.hpp"
#include "mpi/planned_calls.hpp"

namespace traffic {

/// `run` takes one step of the executable.
template <class Step>
void check_calls(mt::job const& ranks, auto const& run) {
  constexpr mt::step_constants costs = mt::constants_of<Step>;
  mt::store values(ranks);
  Step step(values);
  sent const planned = calls_of(step.graph(), step.planned(), step.running().held()[0]);
  CHECK(planned.collectives == costs.messages);
  for (int i = 0; i < 2; ++i) {
    counted::clear();
    run(step);
    CHECK(counted::calls_made == planned.calls);
    CHECK(counted::received == planned.received);
    std::int64_t const mine = counted::all_received();
    std::int64_t most = 0;
    PMPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK(most == costs.bytes);
  }
  if (ranks.is_root()) MESSAGE(costs.messages << " messages, " << costs.bytes << " bytes");
  CHECK((costs.messages == 0) == (ranks.get().size() == 1));
}

}  // namespace traffic
