// SPDX-License-Identifier: Apache-2.0
// Steps that the compiler has written out, on ranks: the bits of the engine that reads a list, in lockstep; the MPI
// calls of the plan, and no other; and the bytes that a constant says.
// ranks: 1 2 4 6
// needs: mpi
// timeout: 300
// part: compiled
#include "mpi/sent_by_compiled_steps.hpp"

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"
#include "support/compiled_steps.hpp"

using namespace compiled_steps;

namespace {

template <class Program, class Mesh, class Layout>
void check_calls(mt::job const& ranks, std::size_t fed) {
  std::vector<float> const x = numbers(fed);
  traffic::check_calls<mt::compiled_step<Program, Mesh, Layout, mt::reference_device>>(
      ranks, [&](auto& step) { step(mt::feed<"x">(x)); });
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
