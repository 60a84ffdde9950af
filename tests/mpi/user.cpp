// SPDX-License-Identifier: Apache-2.0
// A guest on a communicator that somebody else made: it is duplicated, and left as it was.
// passes: start-up
// ranks: 1 2 3 4
// needs: mpi
#include <doctest/doctest.h>

#include <optional>

#include "meshtensor/comm/mpi.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;

TEST_CASE("a part of the world in another order") {
  // All but rank 0 (where there are others), the last first.
  bool const takes_part = ranks::count() == 1 || ranks::rank() != 0;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, -ranks::rank(), &part);
  if (takes_part) {
    MPI_Errhandler before = MPI_ERRHANDLER_NULL, after = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(part, &before);
    {
      mt::mpi_world world(part);
      CHECK(world.handle() != part);
      CHECK(world.size() == (ranks::count() == 1 ? 1 : ranks::count() - 1));
      CHECK(world.rank() == ranks::count() - 1 - ranks::rank());
      auto const members = ranks::below(world.size());
      mt::group const all{members.data(), world.size(), world.rank()};
      world.prepare(all);
      mt::collective_call call;
      call.kind = mt::collective::all_gather, call.type = mt::i32, call.join = 0, call.dims = 1, call.extent[0] = 1;
      std::vector<std::int32_t> out(static_cast<std::size_t>(world.size()));
      std::int32_t const mine = ranks::rank();
      auto r = world.start(call, all, &mine, out.data(), nullptr);
      world.wait(r);
      for (int j = 0; j < world.size(); ++j) CHECK(out[static_cast<std::size_t>(j)] == ranks::count() - 1 - j);
    }
    MPI_Comm_get_errhandler(part, &after);
    CHECK(before == after);
    int sum = 0, one = 1;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part) == MPI_SUCCESS);  // still alive
    MPI_Errhandler_free(&before);
    MPI_Errhandler_free(&after);
    MPI_Comm_free(&part);
  }
  int finalized = 1;
  MPI_Finalized(&finalized);
  CHECK(finalized == 0);
}

TEST_CASE("several worlds at once do not disturb each other") {
  mt::mpi_world one, two;
  auto const members = ranks::below(one.size());
  mt::group const all{members.data(), one.size(), one.rank()};
  one.prepare(all), two.prepare(all);
  mt::collective_call call;
  call.kind = mt::collective::broadcast, call.type = mt::i32;
  std::int32_t x = one.rank() + 5, y = one.rank() + 7;
  auto a = one.start(call, all, &x, &x, nullptr);
  auto b = two.start(call, all, &y, &y, nullptr);
  two.wait(b), one.wait(a);
  CHECK(x == 5);
  CHECK(y == 7);
}
