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

TEST_CASE("what one throws, of whatever type, all throw") {
  mt::job const job(0, nullptr);
  mt::all_or_throw all(job.get());
  int const last = ranks::count() - 1;
  for (int i = 0; i < 3; ++i) {
    bool is_number = false;
    std::string said;
    try {
      all([&] {
        if (ranks::rank() == last) throw 7;
      });
    } catch (int seven) { is_number = seven == 7; } catch (mt::error const& e) {
      said = e.what();
    }
    CHECK(is_number == (ranks::rank() == last));
    std::string const wanted = "meshtensor R21: rank " + std::to_string(last) + " failed: an exception of unknown type";
    CHECK(said == (is_number ? "" : wanted));
    all([] {});
  }
}
