// SPDX-License-Identifier: Apache-2.0
// The thread that progresses messages enters what a device asks it to before it calls MPI.
// ranks: 2
// needs: mpi
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;

TEST_CASE("a thread that calls MPI has entered a device") {
  mt::mpi_runner runner(MPI_COMM_WORLD);
  std::atomic<int> here = 0, elsewhere = 0;
  runner.processes()->enter_thread_by(
      [&, mine = std::this_thread::get_id()] { ++(std::this_thread::get_id() == mine ? here : elsewhere); });
  mt::planned_collective c;
  c.members = ranks::below(ranks::count());
  c.with = {c.members.data(), ranks::count(), ranks::rank()};
  c.call.kind = mt::collective::all_gather, c.call.type = mt::dtype::i32;
  c.call.dims = 1, c.call.extent[0] = 100'000, c.call.join = 0;
  std::vector<int> const mine(100'000, ranks::rank() + 1);
  std::vector<int> all(mine.size() * c.members.size());
  runner.run(ranks::count(), [&](int rank, mt::transport& t) {
    int const number = t.prepare(c);
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));  // rank 0 waits for it meanwhile
    t.start(number, c, mine.data(), all.data());
    if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    t.wait(number);
  });
  runner.processes()->enter_thread_by({});
  CHECK(all.front() == 1);
  CHECK(all.back() == ranks::count());
  CHECK(here == 0);
  CHECK((ranks::rank() != 0 || elsewhere > 0));
}
