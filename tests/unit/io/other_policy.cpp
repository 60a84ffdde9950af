// SPDX-License-Identifier: Apache-2.0
// Replicas resume under a policy that has not made the checkpoint, at any step.
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

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

namespace {
/// Trains under one policy, and goes on from the checkpoint under another one. Returns the sentences that were said.
template <class Before, class After>
struct changed {
  explicit changed(int steps, mt::load_options const& how = {}) : before(job, count, count), after(job, count, 2) {
    take(before, steps);
    mt::save(before.weights, run.path());
    mt::load(after.weights, run.path(), how);
  }
  bool is_equal() {
    auto const gain = after.template of<double>("gain"), moment = after.template of<double>("optimizer/gain/m");
    bool all = true;
    for (std::size_t i = 0; i < gain.size(); ++i) all = all && gain[i] == gain[i % (gain.size() / count)];
    for (std::size_t i = 0; i < moment.size(); ++i) all = all && moment[i] == moment[i % (moment.size() / count)];
    return all;
  }
  bool is_as_saved() {
    auto was = before.bytes(), now = after.bytes();
    for (auto const& [path, bytes] : now)
      if (was.contains(path) && was.at(path) != bytes) return false;
    return true;
  }

  kept_warnings quiet{};
  mt::job job = mt::job::in_lockstep();
  own_folder run{};
  replica_training<Before> before;
  replica_training<After> after;
};
template <int Steps>
using post_local = mt::by_step<mt::first_steps<Steps>, mt::synchronous, mt::local_sgd<4>>;
}  // namespace

TEST_CASE("replicas that differ begin with their mean under a policy that averages gradients") {
  changed<mt::local_sgd<4>, mt::synchronous> c(6);
  auto const consensus = c.before.looked(), now = c.after.looked();
  CHECK(distance(now, consensus) < 1e-12);
  CHECK(c.is_equal());
  REQUIRE(c.quiet.said.size() == 1);
  CHECK(c.quiet.said[0].find("C18: the 4 replicas of the checkpoint") != std::string::npos);
  CHECK(
      c.quiet.said[0].ends_with("may differ, but the policy begins with equal ones: parameters start at the mean and "
                                "moments and states at the mean; counts at the largest"));
  take(c.after, 3);
  CHECK(c.is_equal());

  changed<pushed, mt::synchronous> weighted(5);
  CHECK(distance(weighted.after.looked(), weighted.before.looked()) < 1e-12);
  CHECK(weighted.is_equal());
  CHECK(changed<mt::local_sgd<4>, post_local<7>>(6).is_equal());
  CHECK(changed<post_local<3>, post_local<7>>(6).is_equal());  // the policy of the first steps begins again
}
TEST_CASE("replicas that differ begin with their mean under a policy that needs the same start of a period") {
  mt::load_options const how{.begin_missing = true};
  changed<mt::local_sgd<4>, mt::diloco<4>> c(6, how);
  CHECK(c.is_equal());
  take(c.after, 2);
  auto const gain = c.after.of<double>("gain");
  for (std::size_t i = 0; i < gain.size(); ++i) CHECK(gain[i] == gain[i % (gain.size() / count)]);
  CHECK(changed<mt::no_loco<4>, mt::compressed<mt::quantized<8>, mt::local_sgd<4>>>(6, how).is_equal());
}
TEST_CASE("replicas resume as they were saved, if that is what their policy needs") {
  auto const resumes = [](auto c) {
    CHECK(c->is_as_saved());
    CHECK(c->quiet.said.empty());
  };
  resumes(std::make_unique<changed<mt::synchronous, mt::synchronous>>(6));
  resumes(std::make_unique<changed<mt::synchronous, mt::local_sgd<4>>>(6));
  resumes(std::make_unique<changed<mt::synchronous, post_local<7>>>(6));
  resumes(std::make_unique<changed<post_local<7>, mt::synchronous>>(6));
  resumes(std::make_unique<changed<post_local<6>, mt::synchronous>>(6));
  resumes(std::make_unique<changed<post_local<3>, post_local<3>>>(6));
  resumes(std::make_unique<changed<mt::local_sgd<4>, post_local<6>>>(6));
  resumes(std::make_unique<changed<mt::diloco<4>, mt::slow_momentum<3>>>(6));
  resumes(std::make_unique<changed<mt::local_sgd<4>, mt::local_sgd<2>>>(6));
  resumes(std::make_unique<changed<mt::no_loco<4>, mt::no_loco<4>>>(6));
}
TEST_CASE("an executable that is made after the load gets the same replicas") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const run;
  replica_training<mt::local_sgd<4>> before(job, count, 1);
  take(before, 6);
  mt::save(before.weights, run.path());
  mt::store later(job);
  mt::load(later, run.path());
  run_in_f64<mt::consensus<look, replicas_of<mt::synchronous>>, by_replicas> looks(later, replica(count), data(1),
                                                                                   model(1));
  run_in_f64<replicas_of<mt::synchronous>, by_replicas> step(later, replica(count), data(1), model(1));
  auto const gain = numbers_of<double>(later, "gain");
  for (std::size_t i = 0; i < gain.size(); ++i) CHECK(gain[i] == gain[i % (gain.size() / count)]);
  CHECK(quiet.said.size() == 1);
}
