// SPDX-License-Identifier: Apache-2.0
// Random programs under random layouts on ranks whose devices have late queues and memory of their own: each bit of the
// reference device on the same ranks.
//
// passes: start-up
// ranks: 2 3 4 6
// needs: mpi
// timeout: 300
#include "meshtensor/device/reference.hpp"
#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"
#include "property/random_run.hpp"
#include "support/late_machine.hpp"

using namespace property;

TEST_CASE("random programs under random layouts, as ranks with late devices") {
  mt::job const ranks(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  random_run run(60, 700000 + 1000 * static_cast<std::uint64_t>(ranks::count()));
  std::uint64_t seed = run.seed();  // of rank 0: midnight comes to all at once
  MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  run.set_seed(seed);
  long out_of_order = 0;
  run.each(random_meshes(ranks::count()), [&](layout_trial const& trial) -> std::string {
    ++seed;
    auto const own = seed * 64 + static_cast<std::uint64_t>(ranks::rank());
    meshtensor_test::late_here const here(own, 2 + static_cast<int>(own % 3));
    std::string const wrong =
        first_difference(trial.run(ranks, meshtensor_test::late_device()), trial.run(ranks, mt::reference_device()));
    if (!wrong.empty()) std::fprintf(stderr, "rank %d: %s\n", ranks::rank(), run.context().c_str());
    REQUIRE(wrong == "");  // here and now: the other ranks go on to the next run
    CHECK(here.machine.blocks() == 0);
    CHECK(here.machine.host_blocks() == 0);
    out_of_order += here.machine.out_of_order;
    return "";
  });
  if (ranks.is_root()) run.say();
  MESSAGE("rank " << ranks::rank() << ": " << out_of_order << " kernels out of the list's order");
  CHECK(run.counted() > 0);
  if (!run.is_asked_for()) CHECK(out_of_order > 0);
}
