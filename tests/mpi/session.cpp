// SPDX-License-Identifier: Apache-2.0
// MPI is initialised by the world where nobody did it before, and ended with it.
// passes: start-up
// ranks: 1 2 3
// needs: mpi
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "meshtensor/comm/mpi.hpp"
#include "meshtensor/job/launch.hpp"

namespace mt = meshtensor;

TEST_CASE("the world begins and ends MPI") {
  int flag = 1;
  MPI_Initialized(&flag);
  REQUIRE(flag == 0);
  {
    mt::mpi_world world;
    MPI_Initialized(&flag);
    CHECK(flag == 1);
    CHECK(mt::launched_processes() == world.size());
    int seen = 0;
    world.run([&](mt::mpi_world& w) { w.barrier(), ++seen; });
    CHECK(seen == 1);
  }
  MPI_Finalized(&flag);
  CHECK(flag == 1);
  CHECK_THROWS_AS(mt::mpi_world{}, mt::error);  // not twice
}

int main(int argc, char** argv) { return doctest::Context(argc, argv).run(); }
