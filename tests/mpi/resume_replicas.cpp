// SPDX-License-Identifier: Apache-2.0
// Replicas on ranks of MPI resume with another number of them: each rank merges the parts that it needs, and the values
// are those that one process makes of the same checkpoint.
// passes: start-up
// ranks: 2 3 4
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include "meshtensor/io/checkpoint.hpp"
#include "ranks.hpp"
#include "support/folder.hpp"
#include "unit/io/replica_programs.hpp"

namespace mt = meshtensor;
using namespace replica_programs;
using meshtensor_test::sentence;
using policy = mt::stochastic_gradient_push<mt::one_peer_exponential>;

namespace {

/// One folder for all ranks.
struct shared_folder {
  shared_folder() {
    if (ranks::rank() == 0) mine = std::make_unique<meshtensor_test::own_folder>();
    char text[256] = "";
    if (mine) mine->path().copy(text, 255);
    MPI_Bcast(text, 256, MPI_CHAR, 0, MPI_COMM_WORLD);
    path = text;
  }
  ~shared_folder() { MPI_Barrier(MPI_COMM_WORLD); }
  std::unique_ptr<meshtensor_test::own_folder> mine;
  std::string path;
};

}  // namespace

TEST_CASE("replicas on ranks become more or fewer") {
  std::vector<std::string> said;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& one) { said.push_back(one); });
  mt::job const job(MPI_COMM_WORLD), alone = mt::job::in_lockstep();
  int const size = ranks::count();
  for (int const n : {1, size, 2 * size + 1}) {
    shared_folder const folder;
    replica_training<policy> one(job, n, size);
    one.once(), one.once();
    mt::save(one.weights, folder.path);
    auto const consensus = one.looked();
    for (int const m : {1, size - 1, size, size + 1}) {
      INFO(n << " to " << m);
      said.clear();
      replica_training<policy> many(job, m, size), here(alone, m, 1);
      mt::load(many.weights, folder.path).require_all();
      CHECK(said.size() == (ranks::rank() == 0 && n != m ? 1 : 0));
      mt::load(here.weights, folder.path);
      CHECK(many.bytes() == here.bytes());
      auto const now = many.looked();
      for (std::size_t i = 0; i < now.size(); ++i) CHECK(now[i] == doctest::Approx(consensus[i]).epsilon(1e-12));
      CHECK(many.once() == doctest::Approx(here.once()).epsilon(1e-10));
    }
  }
  mt::on_warning() = before;
}

TEST_CASE("an error of merging is thrown on all ranks") {
  auto const before = std::exchange(mt::on_warning(), {});
  mt::job const job(MPI_COMM_WORLD);
  int const size = ranks::count();
  shared_folder const folder;
  replica_training<policy> one(job, size, size);
  auto const is_model = [](std::string const& name) { return !name.starts_with("regime/"); };
  mt::save(one.weights, folder.path, {}, {.only = is_model});
  replica_training<policy> other(job, size + 1, size);
  auto const bytes = other.bytes();
  CHECK(sentence([&] {
          mt::load(other.weights, folder.path, {.only = is_model});
        }).find("lacks 'regime/push_sum_weight'") != std::string::npos);
  CHECK(other.bytes() == bytes);
  mt::on_warning() = before;
}
