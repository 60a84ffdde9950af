// SPDX-License-Identifier: Apache-2.0
// What the theory of gossip says, of the programs of policies in f64: mass is kept, replicas reach the mean as fast as
// their topology allows, and messages have the age that the policy says.
// passes: start-up
#include "unit/regime/noisy_quadratic.hpp"

using namespace noisy_quadratic;

namespace {

template <int N>
struct fixed_replica : mt::dim<"replica", N> {};

/// Replicas keep the mass over 1,000 steps. What they learn is known: `noise` times the rate in each step.
void keep_mass(replicas_of_quadratic training, char const* what) {
  int const n = training.n, of_all = n * training.width_of_one;
  INFO(what, " of ", n);
  numbers noise = drawn(of_all, 3);
  for (double& one : noise) one /= 1000;
  training.set("w", drawn(of_all, 11)), training.fill("noise", noise);
  numbers wanted = training.sums();
  for (std::size_t i = 0; i < noise.size(); ++i) wanted[i % wanted.size()] -= 1000 * 0.125 * noise[i];
  for (int step = 0; step < 1000; ++step) training.step();
  double mass = 0;
  for (double const w : training.weights()) mass += w;
  CHECK(std::abs(mass - n) < 1e-12 * n);
  numbers const found = training.sums();
  for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(std::abs(found[k] - wanted[k]) < 1e-12 * n);
}
template <class Topology, class Dim = any_replica>
void keep_mass(char const* what, std::initializer_list<int> sizes) {
  for (int const n : sizes) {
    using pushed = mt::stochastic_gradient_push<Topology>;
    using overlapped = mt::overlapped_gradient_push<Topology>;
    keep_mass(replicas_of_quadratic::under<pushed, mt::dtype::f64, Dim>(n, 2), what);
    keep_mass(replicas_of_quadratic::under<overlapped, mt::dtype::f64, Dim>(n, 2), what);
  }
}

/// Replicas keep the sum of their weights over 1,000 steps, and the mean of their parameters up to the rounding of the
/// first rounds, before they are equal. `of_weights` and `of_mean` are the largest errors for one replica.
template <class Policy, mt::dtype Type>
void keep_rounded_mass(char const* what, int n, double of_weights, double of_mean) {
  INFO(what, " of ", n);
  auto training = replicas_of_quadratic::under<Policy, Type>(n, 8);
  numbers start = drawn(8 * n, 11);
  for (double& one : start) one += 2;
  training.set("w", start);
  numbers const first = training.sums();
  for (int step = 0; step < 1000; ++step) training.step();
  double mass = 0, off = 0;
  for (double const w : training.weights()) mass += w;
  CHECK(std::abs(mass - n) < of_weights * n);
  numbers const last = training.sums();
  for (std::size_t k = 0; k < last.size(); ++k) off += (last[k] - first[k]) / static_cast<double>(8 * n);
  CHECK(std::abs(off) < of_mean);
}
template <class Policy>
void keep_rounded_mass(char const* what, int n) {
  keep_rounded_mass<Policy, mt::dtype::f32>(what, n, 1e-6, 4e-6);
  keep_rounded_mass<Policy, mt::dtype::bf16>(what, n, 1e-6, 0.01);
}

/// The largest difference from 1/n of a share, after some rounds of a topology from different values.
template <class Topology, class Dim = any_replica>
double deviation(int n, int rounds) {
  auto training = replicas_of_quadratic::under<mt::stochastic_gradient_push<Topology>, mt::dtype::f64, Dim>(n, n);
  training.start_as_identity();
  for (int round = 0; round < rounds; ++round) training.step();
  return training.furthest_from(1.0 / n);
}

/// Parameters after some steps on quadratics that differ, with noise.
template <class Policy, mt::dtype Type = mt::dtype::f64, class Dim = any_replica>
numbers trained(int n, int steps) {
  auto training = replicas_of_quadratic::under<Policy, Type, Dim>(n, 4);
  numbers curvature = drawn(4 * n, 21);
  for (double& one : curvature) one = 1 + one / 2;
  training.fill("curvature", curvature), training.fill("centre", drawn(4 * n, 22));
  for (int step = 0; step < steps; ++step) {
    training.fill("noise", drawn(4 * n, 100 + static_cast<std::uint64_t>(step)));
    training.step();
  }
  numbers all = training.values();
  for (double const one : training.values("v")) all.push_back(one);
  return all;
}
/// The largest difference of numbers, as a share of the largest number.
double relative_difference(numbers const& a, numbers const& b) {
  REQUIRE(a.size() == b.size());
  double most = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(a[i] - b[i])), size = std::max(size, std::abs(b[i]));
  return most / size;
}

}  // namespace

TEST_CASE("weights and parameters keep their sums over 1000 steps, whatever the topology") {
  keep_mass<mt::one_peer_exponential>("one_peer_exponential", {2, 6, 8});
  keep_mass<mt::bipartite_exponential>("bipartite_exponential", {5});
  keep_mass<mt::directed_ring>("directed_ring", {5});
  keep_mass<mt::ring>("ring", {6});
  keep_mass<mt::torus>("torus", {6});
  keep_mass<mt::base_graph<1>>("base_graph<1>", {7});
  keep_mass<mt::base_graph<2>>("base_graph<2>", {8});
  keep_mass<mt::random_matching<3>>("random_matching", {7});
  keep_mass<mt::random_out_degrees<5>>("random_out_degrees", {3, 8});
  keep_mass<mt::complete, fixed_replica<6>>("complete", {6});
  keep_mass<mt::exponential, fixed_replica<6>>("exponential", {6});
}

TEST_CASE("rounded weights and parameters keep their sums over 1000 steps") {
  keep_rounded_mass<mt::stochastic_gradient_push<mt::random_out_degrees<1>>>("push by random_out_degrees", 8);
  keep_rounded_mass<mt::overlapped_gradient_push<mt::random_out_degrees<1>>>("overlapped random_out_degrees", 8);
  keep_rounded_mass<mt::stochastic_gradient_push<mt::ring>>("push by ring", 6);
  keep_rounded_mass<mt::decentralized_sgd<mt::ring>>("ring", 6);
  keep_rounded_mass<mt::biased_gradient_push<mt::base_graph<2>>>("base_graph<2>", 9);
}

TEST_CASE("a mean of 257 equal replicas of bf16 is their value") {  // 257 is no number of bf16
  auto training = replicas_of_quadratic::under<mt::local_sgd<1>, mt::dtype::bf16>(257, 1);
  training.set("w", numbers(257, 1.5));
  for (int step = 0; step < 4; ++step) training.step();
  CHECK(training.values() == numbers(257, 1.5));
}

TEST_CASE("a mean of equal clients of bf16 grows no value on average, although each counts for 4/3 of one") {
  auto training = replicas_of_quadratic::under<mt::federated_averaging<1, 3>, mt::dtype::bf16>(4, 64);
  numbers start(4 * 64);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = 1 + static_cast<double>(i % 64) / 64;
  training.set("w", start), training.set("regime/examples", numbers(4, 1));
  training.step();
  double growth = 0;
  numbers const last = training.values();
  for (std::size_t i = 0; i < start.size(); ++i) growth += (last[i] / start[i] - 1) / static_cast<double>(start.size());
  CHECK(std::abs(growth) < 0.0005);
}

TEST_CASE("one period of one-peer exponential messages gives all replicas the exact mean, for powers of two") {
  for (int const n : {2, 4, 8, 16, 32}) {
    INFO(n, " replicas");
    int const period = mt::one_peer_exponential::period(n);
    CHECK(deviation<mt::one_peer_exponential>(n, period) < 1e-13);
    CHECK(deviation<mt::one_peer_exponential>(n, period - 1) > 0.5 / n);  // and not sooner
  }
  CHECK(std::abs(deviation<mt::one_peer_exponential>(6, 3) - 1.0 / 12) < 1e-12);
  CHECK(std::abs(deviation<mt::one_peer_exponential>(12, 4) - 1.0 / 24) < 1e-12);
}

TEST_CASE("one period of the Base-(k+1) graph gives all replicas the exact mean, for any number of them") {
  for (int n = 1; n <= 33; ++n) {
    INFO(n, " replicas");
    CHECK(deviation<mt::base_graph<1>>(n, mt::base_graph<1>::period(n)) < 1e-13);
    CHECK(deviation<mt::base_graph<2>>(n, mt::base_graph<2>::period(n)) < 1e-13);
    CHECK(deviation<mt::base_graph<3>>(n, mt::base_graph<3>::period(n)) < 1e-13);
  }
}

TEST_CASE("after nine steps of eight replicas, a ring is at least 100 times as far from the mean") {
  double const exponential = deviation<mt::one_peer_exponential>(8, 9);
  double const directed = deviation<mt::directed_ring>(8, 9), both_ways = deviation<mt::ring>(8, 9);
  CHECK(directed == doctest::Approx(0.12).epsilon(0.05));  // a quarter of cos(π/8)⁹, and less of the other modes
  CHECK(both_ways == doctest::Approx(0.0356).epsilon(0.05));
  CHECK(directed >= 100 * exponential);
  CHECK(both_ways >= 100 * exponential);
  // With all three messages in each round, about 0.5⁹ / 4 is left. A ring in both directions is only 79 times that far.
  double const three_messages = deviation<mt::exponential, fixed_replica<8>>(8, 9);
  CHECK(directed >= 100 * three_messages);
  CHECK(both_ways / three_messages == doctest::Approx(78.6).epsilon(0.01));
}

TEST_CASE("weights remove the bias of topologies whose replicas get different shares") {
  for (int const n : {5, 8}) {
    INFO(n, " replicas");
    numbers const first = drawn(n, 11);
    auto const [low, high] = std::minmax_element(first.begin(), first.end());
    double mean = 0, furthest = 0, worst = 0;
    for (double const one : first) mean += (one + 1) / n;
    auto pushed = replicas_of_quadratic::under<mt::stochastic_gradient_push<mt::random_out_degrees<5>>>(n, 1);
    auto biased = replicas_of_quadratic::under<mt::biased_gradient_push<mt::random_out_degrees<5>>>(n, 1);
    numbers moved = first;
    for (double& one : moved) one += 1;  // a mean of 0 would hide the bias
    pushed.set("w", moved), biased.set("w", moved);
    for (int step = 0; step < 200; ++step) pushed.step(), biased.step();
    furthest = pushed.furthest_from(mean), worst = biased.furthest_from(mean);
    CHECK(furthest < 1e-10);
    CHECK(worst > 0.1 * (*high - *low));
  }
}

TEST_CASE("where all replicas get as much as they send, weights change no bit") {
  auto const check = []<class T>(T, int n) {
    CHECK(trained<mt::stochastic_gradient_push<T>>(n, 20) == trained<mt::biased_gradient_push<T>>(n, 20));
    CHECK(trained<mt::overlapped_gradient_push<T>>(n, 20) == trained<mt::decentralized_sgd<T>>(n, 20));
  };
  check(mt::ring{}, 6);
  check(mt::one_peer_exponential{}, 6);
  check(mt::bipartite_exponential{}, 8);
}

TEST_CASE("a push to all replicas is an all_reduce") {
  auto const check = []<class Dim>(Dim, int n) {
    using push = mt::stochastic_gradient_push<mt::complete>;
    CHECK(relative_difference(trained<push, mt::dtype::f64, Dim>(n, 50),
                              trained<mt::synchronous, mt::dtype::f64, Dim>(n, 50)) < 1e-13);
    CHECK(relative_difference(trained<push, mt::dtype::f32, Dim>(n, 50),
                              trained<mt::synchronous, mt::dtype::f32, Dim>(n, 50)) < 1e-6);
  };
  check(fixed_replica<2>{}, 2);
  check(fixed_replica<3>{}, 3);
  check(fixed_replica<8>{}, 8);
}

TEST_CASE("messages of a push have this step's gradients, and those of an overlapped push the last step's") {
  // Replica 0 alone takes a step, in round 0, and each round sends to the replica 1, 2 or 4 further.
  auto const seen = [](replicas_of_quadratic training, int steps) {
    training.fill("noise", {-8, 0, 0, 0, 0, 0, 0, 0});
    for (int step = 0; step < steps; ++step) {
      training.step();
      training.fill("noise", numbers(8));
    }
    return training.values();
  };
  auto const push = [] { return replicas_of_quadratic::under<mt::stochastic_gradient_push<>>(8, 1); };
  auto const overlapped = [] { return replicas_of_quadratic::under<mt::overlapped_gradient_push<>>(8, 1); };
  CHECK(seen(push(), 1) == numbers{0.5, 0.5, 0, 0, 0, 0, 0, 0});
  CHECK(seen(push(), 2) == numbers{0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0});
  CHECK(seen(push(), 3) == numbers(8, 0.125));
  CHECK(seen(overlapped(), 1) == numbers{1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(seen(overlapped(), 2) == numbers{0.5, 0, 0.5, 0, 0, 0, 0, 0});
  CHECK(seen(overlapped(), 3) == numbers{0.25, 0, 0.25, 0, 0.25, 0, 0.25, 0});
  CHECK(seen(overlapped(), 4) == numbers(8, 0.125));
}

TEST_CASE("a step is one round for all parameters") {
  auto training = replicas_of_quadratic::under<mt::stochastic_gradient_push<>>(8, 1);
  numbers const start{8, 0, 0, 0, 0, 0, 0, 0};
  training.set("w", start), training.set("v", start);
  training.step();
  numbers const after_first{4, 4, 0, 0, 0, 0, 0, 0}, after_second{2, 2, 2, 2, 0, 0, 0, 0};
  CHECK(training.values("w") == after_first);
  CHECK(training.values("v") == after_first);
  training.step();
  CHECK(training.values("w") == after_second);
  CHECK(training.values("v") == after_second);
}
