// SPDX-License-Identifier: Apache-2.0
// Programs of one store, stepped in any order, as ranks.
// passes: start-up
// ranks: 2 4
// needs: mpi
// timeout: 300
#include "property/one_store.hpp"

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"

TEST_CASE("on ranks") {
  meshtensor::job const job(std::make_unique<meshtensor::mpi_runner>(MPI_COMM_WORLD));
  CHECK(one_store::hold(job, 2, 3) >= 10);
}
