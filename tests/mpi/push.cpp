// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient push on ranks of MPI with one replica each. In each step, a rank sends one message to each of its
// neighbours, which carries all parameters and the weight.
// passes: start-up
// ranks: 2 3 4 8
// needs: mpi
#include <doctest/doctest.h>

#include <array>

#include "meshtensor/job/mpi_runner.hpp"
#include "meshtensor/meshtensor.hpp"
#include "mpi/counted.hpp"
#include "mpi/ranks.hpp"
#include "property/regime_programs.hpp"

namespace {

namespace mt = meshtensor;

inline constexpr struct worker_dim : mt::dim<"worker"> {} worker;

/// E is the type of the parameters in C++.
template <class T, class E>
using push = mt::precision<mt::replicas<regimes::train_step, worker, mt::stochastic_gradient_push<T>>,
                           std::is_same_v<E, float> ? mt::dtype::f32 : mt::dtype::bf16>;

/// Steps of all replicas of `job`, whose inputs are numbers that differ.
template <class T, class E>
class training {
 public:
  explicit training(mt::job const& job)
      : mesh_(mt::mesh_shape{}.add("ax", ranks::count())),
        traced_(mt::on_heap([] { return mt::trace<push<T, E>>(); })),
        low_(mt::lower(*traced_, mt::entry_name<push<T, E>>(), mesh_, mt::layout_rules{}.shard("worker", {"ax"}),
                       std::array{mt::dim_extent{mt::name("worker"), ranks::count()}})),
        values_(job, 5),
        step_(values_, low_->graph, low_->planned, mesh_, low_->entry),
        x_(static_cast<std::size_t>(ranks::count()) * 16),
        y_(static_cast<std::size_t>(ranks::count()) * 4) {
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = E(static_cast<float>(i % 7) / 4 - 0.5F);
    for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = E(static_cast<float>(i % 5) / 2 - 1);
    step_.feed("x", x_.data()), step_.feed("y", y_.data());
  }
  void step() { step_.step(); }
  /// The loss of a replica, which this process holds.
  float loss(std::size_t held) { return static_cast<float>(step_.local("loss", held).template as<E>()[0]); }
  mt::step_traffic planned() const { return mt::traffic_of(low_->graph, low_->planned); }

 private:
  mt::mesh_shape mesh_;
  std::unique_ptr<mt::module> traced_;
  std::unique_ptr<mt::lowering> low_;
  mt::store values_;
  mt::session<mt::reference_device> step_;
  std::vector<E> x_, y_;
};

/// Each rank has `slots` neighbours.
template <class T, class E = float>
void check(int slots) {
  mt::job const by_mpi{std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)}, in_turns = mt::job::in_lockstep();
  training<T, E> mine(by_mpi), all(in_turns);
  constexpr std::int64_t parameters = (2 * 4 * 4 + 4) * sizeof(E), weight = 4;
  CHECK(mine.planned().moves == 3 * slots);
  CHECK(mine.planned().messages == slots);
  CHECK(mine.planned().bytes == slots * (parameters + weight));
  for (int round = 0; round < 5; ++round) {
    counted::clear();
    mine.step();
    CHECK(counted::calls_made == std::map<std::string, int>{{"irecv", slots}, {"isend", slots}});
    CHECK(counted::all_received() == slots * (parameters + weight));
    all.step();
    CHECK(mine.loss(0) == all.loss(static_cast<std::size_t>(ranks::rank())));
  }
}

}  // namespace

TEST_CASE("one neighbour in a round: one message, with all parameters and the weight") {
  check<mt::one_peer_exponential>(1);
  check<mt::directed_ring>(1);
}

TEST_CASE("one message for parameters of bf16 and their weight of f32") {
  check<mt::one_peer_exponential, mt::bf16_t>(1);
}

TEST_CASE("two neighbours: one message to each") {
  if (ranks::count() > 2) check<mt::ring>(2);
}
