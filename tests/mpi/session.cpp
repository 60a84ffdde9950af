// SPDX-License-Identifier: Apache-2.0
// MPI is initialised by the first world where nobody did it before, and ended when the process exits.
// passes: start-up
// ranks: 1 2 3
// needs: mpi
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "meshtensor/comm/mpi.hpp"
#include "meshtensor/job/launch.hpp"

namespace mt = meshtensor;

TEST_CASE("the first world begins MPI, and others follow") {
  int flag = 1;
  MPI_Initialized(&flag);
  REQUIRE(flag == 0);
  for (int job = 0; job < 3; ++job) {
    mt::mpi_world world;
    MPI_Initialized(&flag);
    CHECK(flag == 1);
    CHECK(mt::launched_processes() == world.size());
    int seen = 0;
    world.run([&](mt::mpi_world& w) { w.barrier(), ++seen; });
    CHECK(seen == 1);
  }
  MPI_Finalized(&flag);
  CHECK(flag == 0);
}

namespace {
// Called after the library's own handler, because it is registered earlier.
void require_end_of_mpi() {
  int ended = 0;
  MPI_Finalized(&ended);
  std::string said;
  if (ended != 0) try {
      mt::mpi_world const late;
    } catch (mt::error const& e) { said = e.what(); }
  if (said.starts_with("meshtensor R25: MPI has been finalised already, by MPI_Finalize or by exit")) return;
  std::fprintf(stderr, "at exit: MPI is finalized: %d, and a world says: %s\n", ended, said.c_str());
  std::_Exit(1);
}
}  // namespace

int main(int argc, char** argv) {
  std::atexit(&require_end_of_mpi);
  return doctest::Context(argc, argv).run();
}
