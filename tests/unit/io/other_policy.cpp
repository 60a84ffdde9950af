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

namespace {
/// A program that updates a state of its own beside a training.
struct beside {
  constexpr void operator()(mt::scope auto s) const {
    auto const n = s.state("steps_beside", mt::f32);
    s.update(n, n + 1);
    s.output("n", n);
  }
};
using run_beside = mt::executable<beside, mesh, mt::layout<>, mt::reference_device>;
struct look_at_replicas : mt::replicas<look, replica, nothing> {};
bool are_equal(mt::store& weights) {
  auto const gain = numbers_of<double>(weights, "gain");
  bool all = true;
  for (std::size_t i = 0; i < gain.size(); ++i) all = all && gain[i] == gain[i % (gain.size() / count)];
  return all;
}
}  // namespace

TEST_CASE("replicas that count by weights begin with their mean under a policy without weights") {
  changed<pushed, mt::local_sgd<4>> c(5);
  CHECK(distance(c.after.looked(), c.before.looked()) < 1e-12);
  CHECK(are_equal(c.after.weights));
  REQUIRE(c.quiet.said.size() == 1);
  CHECK(c.quiet.said[0].find("count by weights, which the policy lacks: parameters start at the mean weighted by "
                             "'regime/push_sum_weight'") != std::string::npos);
  CHECK(changed<pushed, pushed>(5).is_as_saved());
  CHECK(changed<mt::stochastic_gradient_push<mt::ring>, mt::local_sgd<4>>(5).is_as_saved());  // all weights are 1
  // A program that looks at each replica sees them as they were saved, and the weights stay.
  mt::store looked(c.job);
  mt::load(looked, c.run.path());
  run_in_f64<look_at_replicas, by_replicas> see(looked, replica(count), data(1), model(1));
  run_in_f64<replicas_of<pushed>, by_replicas> step(looked, replica(count), data(1), model(1));
  CHECK(bytes_of(looked) == c.before.bytes());
}
TEST_CASE("what replicas need follows from the steps of their program, not from those of the whole store") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const local, equal;
  {
    replica_training<mt::local_sgd<4>> before(job, count, 1);
    run_beside other(before.weights, data(1), model(1));
    for (int i = 0; i < 6; ++i) before.once(), other();
    CHECK(before.weights.step() == 12);
    mt::save(before.weights, local.path());
  }
  replica_training<post_local<7>> after(job, count, 1);
  mt::load(after.weights, local.path());
  CHECK(are_equal(after.weights));
  CHECK(quiet.said.size() == 1);
  {
    replica_training<post_local<7>> before(job, count, 1);
    run_beside other(before.weights, data(1), model(1));
    for (int i = 0; i < 6; ++i) before.once(), other();
    mt::save(before.weights, equal.path());
  }
  replica_training<post_local<7>> again(job, count, 1);
  mt::load(again.weights, equal.path());
  CHECK(quiet.said.size() == 1);  // its replicas are known to be equal, so nothing is merged
}
TEST_CASE("replicas that differ are remembered when all counts are set") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const run;
  replica_training<mt::local_sgd<4>> before(job, count, 1);
  take(before, 3);
  before.weights.set_step(0);
  mt::save(before.weights, run.path());
  replica_training<mt::synchronous> after(job, count, 1);
  mt::load(after.weights, run.path());
  CHECK(are_equal(after.weights));
  CHECK(quiet.said.size() == 1);
}
TEST_CASE("a program that needs equal replicas is refused on a store whose replicas may differ") {
  auto const job = mt::job::in_lockstep();
  own_folder const run;
  using synchronous_step = run_in_f64<replicas_of<mt::synchronous>, by_replicas>;
  using looking_step = run_in_f64<look_at_replicas, by_replicas>;
  auto const said = [&](mt::store& weights) {
    return sentence([&] { synchronous_step(weights, replica(count), data(1), model(1)); });
  };
  replica_training<mt::local_sgd<4>> before(job, count, 1);
  CHECK(said(before.weights) == "");  // it has not trained yet
  take(before, 3);
  mt::save(before.weights, run.path());
  CHECK(said(before.weights).starts_with("meshtensor R99: the replicas of '"));
  CHECK(said(before.weights).find("' may differ, but a program begins with equal ones: save the store") !=
        std::string::npos);
  mt::store looked(job);
  mt::load(looked, run.path());
  looking_step see(looked, replica(count), data(1), model(1));
  CHECK(said(looked).starts_with("meshtensor R99: the replicas of '"));
  // Values that are set equal are known to be equal.
  for (std::string const& path : looked.names()) {
    mt::stored const& value = looked.values().at(path);
    std::vector<std::byte> const zeros(static_cast<std::size_t>(value.bytes()));
    if (value.replica_dim >= 0) looked.copy_in(path, zeros.data());
  }
  CHECK(are_equal(looked));
  CHECK(said(looked) == "");
}
TEST_CASE("a period begins with the first step, at whatever step the counts are set") {
  auto const job = mt::job::in_lockstep();
  auto const trained = [&](int step) {
    replica_training<mt::diloco<4>> training(job, count, 1);
    training.weights.set_step(static_cast<std::uint64_t>(step));
    training.once();
    return training.of<double>("regime/first/start");
  };
  CHECK(trained(4) == trained(0));
  CHECK(trained(5) == trained(0));
}
