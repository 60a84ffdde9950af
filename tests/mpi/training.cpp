// A whole training on ranks is the training on threads and in turns: every bit of twenty losses and of all parameters.
// ranks: 2 4 6 8
// needs: mpi
// timeout: 300
#include "property/training.hpp"

#include "meshtensor/run/mpi_job.hpp"
#include "mpi/ranks.hpp"

using namespace training;

TEST_CASE("ranks, threads and lockstep are one for twenty steps") {
  mt::processors const ranks(std::make_unique<mt::mpi_job>(MPI_COMM_WORLD)), turns = mt::processors::in_lockstep();
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<pupil, mt::dtype::f32>>(); });
  int compared = 0;
  for (spread const& how : all_spreads()) {
    if (how.mesh.size() != ranks.get().size()) continue;
    INFO(std::string(how.what));
    course const mine = train(ranks, *traced, how), all = train(turns, *traced, how);
    REQUIRE(mine.losses.size() == steps);
    CHECK(mine.losses == all.losses);
    CHECK(mine.losses.back() < mine.losses.front() - 0.5);
    CHECK(mine.held.size() * static_cast<std::size_t>(how.mesh.size()) == all.held.size());
    int different = 0;
    for (auto const& [key, bytes] : mine.held) different += all.held.at(key) != bytes;
    CHECK(different == 0);
    if (ranks.speaks()) {
      course const together = train(mt::processors::as_threads(), *traced, how);
      CHECK(together.losses == all.losses);
      CHECK(together.held == all.held);
    }
    ++compared;
  }
  CHECK(compared >= 1);
}
