// SPDX-License-Identifier: Apache-2.0
// Ranks that a launcher left the same cores keep apart.
// passes: start-up
// ranks: 1 2 3 4
// needs: mpi
#include "meshtensor/job/job.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

#include "meshtensor/base/cores.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;

namespace {

/// The cores of all ranks once they have a job, if all of them began with `before`.
std::vector<mt::core_set> of_ranks(mt::core_set const& before) {
  REQUIRE(mt::stay_on(before));
  mt::job const job(0, nullptr);
  std::vector<mt::core_set> all(static_cast<std::size_t>(ranks::count()));
  mt::core_set const mine = mt::usable_cores();
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

}  // namespace

TEST_CASE("ranks split the cores that they all have") {
  mt::core_set everything;
  everything.set();
  mt::core_set const before = mt::usable_cores();
  REQUIRE(mt::stay_on(everything));  // what the launcher bound us to is undone: the system keeps to cores that exist
  mt::core_set const here = mt::usable_cores();
  auto const all = of_ranks(here);
  std::vector<int> users(here.size());
  for (mt::core_set const& own : all) {
    CHECK(own.any());
    CHECK((own & ~here).none());
    for (std::size_t i = 0; i < here.size(); ++i) users[i] += own[i];
  }
  std::size_t const cores = here.count(), count = all.size();
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (!here[i]) continue;
    CHECK(users[i] >= (cores <= count ? 1 : 0));
    CHECK(users[i] <= static_cast<int>((count + cores - 1) / cores));
  }
  CHECK(of_ranks(all[static_cast<std::size_t>(ranks::rank())]) == all);  // a second job changes nothing

  setenv("MESHTENSOR_PIN", "no", 1);
  for (mt::core_set const& own : of_ranks(here)) CHECK(own == here);
  unsetenv("MESHTENSOR_PIN");
  setenv("MESHTENSOR_THREADS", "100000", 1);
  for (mt::core_set const& own : of_ranks(here)) CHECK(own == here);
  unsetenv("MESHTENSOR_THREADS");
  CHECK(mt::stay_on(before));
}
