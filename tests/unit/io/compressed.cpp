// SPDX-License-Identifier: Apache-2.0
// Replicas with compressed messages resume from a checkpoint: as many go on as if nothing had happened. Another number
// of them shares what was left out of means, and begins with new public copies.
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include <cmath>

#include "meshtensor/io/checkpoint.hpp"
#include "support/folder.hpp"
#include "support/kept_warnings.hpp"
#include "unit/io/replica_programs.hpp"

namespace {

namespace mt = meshtensor;
using namespace replica_programs;
using meshtensor_test::kept_warnings;
using meshtensor_test::own_folder;

/// Dims with one name and several extents.
template <int N>
struct replicas_dim : mt::dim<"replica", N> {};

template <class Policy, int N>
struct training {
  using program = mt::precision<mt::replicas<train_step, replicas_dim<N>{}, Policy>, mt::f64>;
  struct layout : mt::layout<mt::shard<replicas_dim<N>{}, data>> {};
  mt::store weights;
  mt::executable<program, mesh, layout, mt::reference_device> step;

  explicit training(mt::job const& job, std::uint64_t seed = 3)
      : weights(job, seed), step(weights, data(N), model(1)) {}
  void take(int steps) {
    for (int i = 0; i < steps; ++i) step(mt::feed<"x">(numbers(static_cast<std::size_t>(8 * N), weights.step() + 1)));
  }
  /// The mean of all replicas of each element of a state.
  std::vector<double> mean_of(std::string const& label) {
    auto const all = numbers_of<double>(weights, label);
    std::vector<double> mean(all.size() / N);
    for (std::size_t i = 0; i < all.size(); ++i) mean[i % mean.size()] += all[i] / N;
    return mean;
  }
};

template <class Policy, int N>
void check_same(mt::job const& job) {
  own_folder const run;
  training<Policy, N> whole(job), before(job), after(job, 9);
  whole.take(7);
  before.take(4);
  mt::save(before.weights, run.path());
  before.take(1);  // what was not saved is lost
  mt::load(after.weights, run.path()).require_all();
  after.take(3);
  CHECK(bytes_of(after.weights) == bytes_of(whole.weights));
}
using means = mt::compressed<mt::top_k_values<1, 4>, mt::synchronous>;
using rare_means = mt::compressed<mt::quantized<4>, mt::local_sgd<3>>;
template <class C, class T>
using gossip = mt::compressed<C, mt::stochastic_gradient_push<T>>;
using pushes = gossip<mt::quantized<4>, mt::one_peer_exponential>;
using pairs = gossip<mt::top_k_values<1, 4>, mt::random_matching<1>>;

}  // namespace

TEST_CASE("as many replicas resume as if nothing had happened") {
  auto const job = mt::job::in_lockstep();
  check_same<means, 4>(job), check_same<rare_means, 4>(job), check_same<pushes, 4>(job), check_same<pairs, 4>(job);
}

TEST_CASE("another number of replicas has the same mean of residuals") {
  kept_warnings const quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const run;
  training<means, 4> four(job);
  four.take(4);
  mt::save(four.weights, run.path());
  training<means, 8> eight(job);
  mt::load(eight.weights, run.path()).require_all();
  auto const before = four.mean_of("regime/first/residual"), now = eight.mean_of("regime/first/residual");
  REQUIRE(before.size() == now.size());
  double all = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(now[i] == doctest::Approx(before[i]).epsilon(1e-12));
    all += std::abs(before[i]);
  }
  CHECK(all > 0);
  eight.take(2);
}

TEST_CASE("another number of replicas begins with public copies of zeros, of which there may be another number") {
  kept_warnings const quiet;
  auto const job = mt::job::in_lockstep();
  auto const check = [&]<class Policy, class T>(Policy, T) {
    own_folder const run;
    training<Policy, 8> eight(job);
    eight.take(4);
    mt::save(eight.weights, run.path());
    training<Policy, 4> four(job);
    four.take(1);
    mt::load(four.weights, run.path()).require_all();
    std::string const path = "regime/" + mt::detail::label_of<T>(true).text() + "/first/public_copy";
    auto const copies = numbers_of<double>(four.weights, path);
    CHECK(copies.size() < numbers_of<double>(eight.weights, path).size());
    for (double const one : copies) CHECK(one == 0);
    four.take(2);
    for (double const one : numbers_of<double>(four.weights, "first")) CHECK(std::isfinite(one));
  };
  check(pushes{}, mt::one_peer_exponential{}), check(pairs{}, mt::random_matching<1>{});
}

TEST_CASE("replicas do not resume with the public copies of another topology") {
  auto const job = mt::job::in_lockstep();
  own_folder const run;
  training<gossip<mt::quantized<8>, mt::ring>, 4> before(job);
  before.take(2);
  mt::save(before.weights, run.path());
  training<gossip<mt::quantized<8>, mt::directed_ring>, 4> after(job, 9);
  after.take(1);
  std::string said;
  try {
    mt::load(after.weights, run.path()).require_all();
  } catch (mt::error const& e) { said = e.what(); }
  CHECK(said.starts_with("meshtensor C07: "));
  CHECK(said.find("regime/directed_ring_") != std::string::npos);
}
