// SPDX-License-Identifier: Apache-2.0
// Replicas resume under a policy that has not made the checkpoint, at any step.
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "meshtensor/io/checkpoint.hpp"
#include "support/folder.hpp"
#include "support/kept_warnings.hpp"
#include "unit/io/replica_programs.hpp"

namespace mt = meshtensor;
using namespace replica_programs;
using meshtensor_test::kept_warnings;
using meshtensor_test::own_folder;
using meshtensor_test::sentence;

namespace {

struct nothing {};
constexpr int count = 4;

template <class Training>
void take(Training& training, int steps) {
  for (int i = 0; i < steps; ++i) training.once();
}
/// The largest difference of two lists.
double distance(std::vector<double> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}
/// The largest distance to which a policy takes parameters, by that of steps alone, after a checkpoint of one model.
template <class Policy>
double reach(std::string const& run, int steps) {
  auto const job = mt::job::in_lockstep();
  replica_training<Policy> training(job, count, 1);
  replica_training<nothing> alone(job, count, 1);
  mt::load(training.weights, run, {.begin_missing = true});
  mt::load(alone.weights, run);
  std::map<std::string, std::vector<double>> start;
  double most = 0;
  for (char const* path : {"gain", "first"}) start[path] = alone.template of<double>(path);
  take(training, steps), take(alone, steps);
  for (char const* path : {"gain", "first"})
    most = std::max(most, distance(training.template of<double>(path), start[path]) /
                              distance(alone.template of<double>(path), start[path]));
  return most;
}

}  // namespace

TEST_CASE("a policy whose states are missing begins its period anew with the first step") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const in_period, at_start;
  plain_training plain(job);
  take(plain, 7);
  mt::save(plain.weights, in_period.path());
  plain.once();
  mt::save(plain.weights, at_start.path());
  // The outer step of slow momentum goes all the way, and that of DiLoCo goes 0.7 · 1.9 times as far.
  CHECK(reach<mt::slow_momentum<4>>(in_period.path(), 1) < 1.01);
  CHECK(reach<mt::diloco<4>>(in_period.path(), 1) < 1.34);
  CHECK(reach<mt::streaming_diloco<4, 2>>(in_period.path(), 3) < 1.34);
  CHECK(reach<mt::streaming_diloco<4, 2>>(at_start.path(), 2) < 1.34);
  CHECK(reach<mt::no_loco<4>>(in_period.path(), 1) < 1.01);
  CHECK(reach<mt::compressed<mt::quantized<8>, mt::local_sgd<4>>>(in_period.path(), 1) < 1.02);
  CHECK(reach<mt::compressed<mt::top_k_values<1, 3>, mt::local_sgd<4>>>(in_period.path(), 1) < 1.01);
  CHECK(reach<mt::compressed<mt::top_k_values<1, 3>, mt::federated_averaging<4, 4>>>(in_period.path(), 1) < 1.01);
  using in_turn = mt::by_step<mt::every_nth_step<4>, mt::slow_momentum<1>, mt::local_sgd<8>>;
  CHECK(reach<in_turn>(in_period.path(), 1) < 1.01);
}
