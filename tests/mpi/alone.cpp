// SPDX-License-Identifier: Apache-2.0
// A rank that is alone where a launcher meant several says so, and nothing is aborted.
// passes: start-up
// ranks: 1
#include <doctest/doctest.h>
#include <stdlib.h>  // setenv

#include "meshtensor/job/job.hpp"
#include "ranks.hpp"

namespace mt = meshtensor;

TEST_CASE("one of four that sees nobody") {
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  std::string said;
  try {
    mt::job const job(0, nullptr);
  } catch (mt::error const& e) { said = e.what(); }
  unsetenv("OMPI_COMM_WORLD_SIZE");
  CHECK(said.starts_with("meshtensor R18: a launcher started this process as one of 4, but "));
  CHECK(said.find(", which it is linked with, sees it alone: start it with that library's own mpirun") !=
        std::string::npos);
  CHECK(mt::job(MPI_COMM_WORLD).get().size() == 1);
}
