// SPDX-License-Identifier: Apache-2.0
// Steps that the compiler has written out, on ranks: the bits of the engine that reads a list, in lockstep; the MPI
// calls of the plan, and no other; and the bytes that a constant says.
// ranks: 1 2 4 6
// needs: mpi
// timeout: 300
#include "mpi/counted.hpp"

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/planned_calls.hpp"
#include "mpi/ranks.hpp"
#include "support/compiled_steps.hpp"

using namespace compiled_steps;

namespace {

template <class Program, class Mesh, class Layout>
void check_calls(mt::job const& ranks, std::size_t fed) {
  using compiled = mt::compiled_step<Program, Mesh, Layout>;
  constexpr mt::step_constants costs = mt::constants_of<compiled>;
  mt::store values(ranks);
  compiled step(values);
  traffic::sent const planned = traffic::calls_of(step.graph(), step.planned(), step.running().held()[0]);
  std::vector<float> const x = numbers(fed);
  for (int i = 0; i < 2; ++i) {
    counted::clear();
    step(mt::feed<"x">(x));
    CHECK(counted::calls_made == planned.calls);
    CHECK(counted::received == planned.received);
    std::int64_t const mine = counted::all_received();
    std::int64_t most = 0;
    PMPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK(most <= costs.bytes);
    if (costs.messages == 0) CHECK(most == 0);
    if constexpr (std::is_same_v<Program, two_layers>) CHECK(most == costs.bytes);
  }
  CHECK((costs.messages == 0) == (ranks.get().size() == 1));
}

template <class On>
void check(mt::job const& ranks) {
  auto const turns = mt::job::in_lockstep();
  check_same<two_layers, typename On::mesh, typename On::layout, mt::reference_device>(ranks, turns, 12 * 4);
  check_same<stacked_layers, typename On::mesh, typename On::spread, mt::reference_device>(ranks, turns, 7 * 4);
  check_same<windows, typename On::mesh, typename On::layout, mt::reference_device>(ranks, turns, 12 * 4);
  check_calls<two_layers, typename On::mesh, typename On::layout>(ranks, 12 * 4);
  check_calls<stacked_layers, typename On::mesh, typename On::spread>(ranks, 7 * 4);
  check_calls<windows, typename On::mesh, typename On::layout>(ranks, 12 * 4);
}

}  // namespace

TEST_CASE("ranks") {
  mt::job const all(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  switch (ranks::count()) {
    case 1: return check<on<1, 1>>(all);
    case 2: return check<on<2, 1>>(all);
    case 4: return check<on<2, 2>>(all);
    case 6: return check<on<2, 3>>(all);
    default: FAIL("no mesh for so many ranks");
  }
}
