// SPDX-License-Identifier: Apache-2.0
// Ranks decide alike on what each sees differently.
// passes: start-up
// ranks: 1 3 4
// needs: mpi
#include "meshtensor/job/agree.hpp"
#include "meshtensor/job/job.hpp"

#include <doctest/doctest.h>

#include "mpi/ranks.hpp"

namespace mt = meshtensor;

TEST_CASE("the greatest of all, every time") {
  mt::job const job(0, nullptr);
  mt::agreement greatest(job), other(job);
  for (int i = 0; i < 20; ++i) {
    double const turn = (ranks::rank() + i) % ranks::count();  // another rank has it each time
    CHECK(greatest(turn) == ranks::count() - 1);
    CHECK(other(-turn) == 0);
  }
}
