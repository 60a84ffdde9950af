// SPDX-License-Identifier: Apache-2.0
// Federated averaging beside its algorithm on the host: who takes part, and by how much each counts.
// passes: start-up
#include "unit/regime/beside_host.hpp"

#include <cmath>
#include <limits>
#include <map>

using namespace beside_host;

namespace {

struct clients_of_seed_7 : mt::federated_averaging<1, 2> {
  constexpr clients_of_seed_7() { seed = 7; }
};

/// The clients that take part in the mean after a step: the first of a random order that have examples.
std::vector<int> sample(int clients, std::uint64_t seed, int step, numbers const& examples) {
  mt::detail::random_order const order{n, mt::detail::scrambled(seed, static_cast<std::uint64_t>(step))};
  std::vector<int> all;
  for (int place = 0; place < n && static_cast<int>(all.size()) < clients; ++place)
    if (examples[static_cast<std::size_t>(order(place))] > 0) all.push_back(order(place));
  return all;
}
/// The mean of a sample at the end of each period. Each client counts by its examples.
mixing federated(int period, int clients, std::uint64_t seed, numbers const& examples) {
  return [=](values const&, values const& after, auto&, std::string const&, int step) {
    if ((step + 1) % period != 0) return after;
    numbers mean(after[0].size());
    double all = 0;
    for (int const client : sample(clients, seed, step, examples)) {
      auto const i = static_cast<std::size_t>(client);
      all += examples[i];
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += examples[i] * after[i][k];
    }
    for (double& one : mean) one /= all;
    return values(after.size(), mean);
  };
}
template <class Policy>
void compare_with_host(int steps, int period, int clients, std::uint64_t seed, numbers const& examples) {
  compare<Policy>(steps, federated(period, clients, seed, examples), {}, {{"regime/examples", examples}});
}
/// The parameters of a policy's replicas after some steps with the same samples.
template <class Policy>
std::map<std::string, numbers> trained(int steps) {
  program many = program::of<in_f64<mt::replicas<train_step, replica, Policy>>>();
  for (int step = 0; step < steps; ++step) {
    many.fill("x", drawn(8 * n, 100 + static_cast<std::uint64_t>(step))), many.fill("y", drawn(4 * n, 7));
    many.run();
  }
  std::map<std::string, numbers> all;
  for (auto const& [path, b] : many.variables)
    if (!path.starts_with("regime/")) all[path] = numbers_of(b);
  return all;
}
template <class Policy>
std::string refused(numbers const& examples) {
  program many = program::of<in_f64<mt::replicas<train_step, replica, Policy>>>();
  many.run();
  for (std::size_t i = 0; i < examples.size(); ++i)
    many.variables.at("regime/examples").set(static_cast<std::int64_t>(i), examples[i]);
  try {
    many.run();
  } catch (mt::error const& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("a random sample of unequal clients takes part in the mean of each period") {
  compare_with_host<mt::federated_averaging<3, 2>>(13, 3, 2, 1, {600, 50, 7, 350, 1, 20});
  compare_with_host<mt::federated_averaging<1, 5>>(6, 1, 5, 1, {1, 2, 3, 4, 5, 6});
  compare_with_host<clients_of_seed_7>(6, 1, 2, 7, {1, 2, 3, 4, 5, 6});
}
TEST_CASE("clients without examples are not drawn") {
  compare_with_host<mt::federated_averaging<2, 2>>(13, 2, 2, 1, {0, 50, 0, 350, 0.5, 20});
  compare_with_host<mt::federated_averaging<2, 4>>(6, 2, 4, 1, {0, 0, 5, 0, 3, 0});  // fewer than 4 have some
  compare_with_host<mt::federated_averaging<2, 1>>(6, 2, 1, 1, {0, 0, 0, 0, 3, 0});
  compare_with_host<mt::federated_averaging<2, 9>>(6, 2, 9, 1, {1, 1, 1, 1, 1, 1});  // more than there are
}
TEST_CASE("federated averaging of all clients with equal examples is local SGD") {
  CHECK(trained<mt::federated_averaging<3, 6>>(7) == trained<mt::local_sgd<3>>(7));
  CHECK(trained<mt::federated_averaging<3, 5>>(7) != trained<mt::local_sgd<3>>(7));
}
TEST_CASE("a compressor that keeps all values changes nothing") {
  using policy = mt::compressed<mt::top_k_values<1, 1>, mt::federated_averaging<2, 2>>;
  compare_with_host<policy>(9, 2, 2, 1, {600, 50, 0, 350, 1, 20});
}
TEST_CASE("each client is drawn in an equal share of the periods") {
  numbers const equal(n, 1);
  std::vector<int> drawn_in(n);
  int const periods = 3000;
  for (int step = 0; step < periods; ++step)
    for (int const client : sample(2, 1, step, equal)) ++drawn_in[static_cast<std::size_t>(client)];
  for (int const often : drawn_in) CHECK(std::abs(often - periods / 3) < 110);  // four standard deviations
}
TEST_CASE("each set of clients and each matching is drawn equally often") {
  int const draws = 60000;
  auto const distance = [&](std::map<int, int> const& found, int kinds) {  // chi squared, in standard deviations
    double all = 0;
    for (auto const& [kind, often] : found) all += std::pow(often - double{draws} / kinds, 2) / (double{draws} / kinds);
    all += (kinds - static_cast<double>(found.size())) * draws / kinds;
    return (all - (kinds - 1)) / std::sqrt(2.0 * (kinds - 1));
  };
  std::map<int, int> sets, pairs;
  for (int i = 0; i < draws; ++i) {
    mt::detail::random_order const order{8, mt::detail::scrambled(1, static_cast<std::uint64_t>(i) * 3 + 2)};
    ++sets[1 << order(0) | 1 << order(1) | 1 << order(2) | 1 << order(3)];
    int matching = 0;
    for (int worker = 0; worker < 6; ++worker)
      matching = 6 * matching + mt::random_matching<5>::incoming(6, i, worker, 0).source;
    ++pairs[matching];
  }
  CHECK(std::abs(distance(sets, 70)) < 4);
  CHECK(std::abs(distance(pairs, 15)) < 4);
}
TEST_CASE("a client without examples may have any values") {
  program many = program::of<in_f64<mt::replicas<train_step, replica, mt::federated_averaging<1, 6>>>>();
  many.run();
  many.variables.at("regime/examples").set(2, 0);
  numbers x = drawn(8 * n, 100);
  for (std::size_t k = 16; k < 24; ++k) x[k] = std::numeric_limits<double>::quiet_NaN();
  many.fill("x", x), many.fill("y", drawn(4 * n, 7));
  CHECK(std::isnan(numbers_of(many.run().at("loss"))[2]));
  for (auto const& [path, b] : many.variables)
    if (!path.starts_with("optimizer/"))
      for (double const one : numbers_of(b)) CHECK(std::isfinite(one));
  CHECK(std::isfinite(numbers_of(many.run().at("loss"))[0]));
}
TEST_CASE("numbers of examples that give no mean are refused") {
  using policy = mt::federated_averaging<1, 3>;
  CHECK(refused<policy>({0, 0, 0, 0, 0, 0}) ==
        "meshtensor R96: federated averaging: no client has examples, so there is no mean: set the state "
        "'regime/examples' to a number above 0 for at least one client");
  for (double const bad : {-2.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK(refused<policy>({1, 1, 1, bad, 1, 1}) ==
          "meshtensor R96: federated averaging: client 3 has a number of examples that is negative or not finite: set "
          "the state 'regime/examples' to numbers of 0 or more");
  CHECK(refused<policy>({1, 0, 1, 0, 1, 0}).empty());
}
namespace {
struct no_clients : mt::federated_averaging<2, 2> {
  constexpr no_clients() { clients = 0; }
};
using push_and_clients =
    mt::by_step<mt::every_nth_step<3>, mt::federated_averaging<1, 4>, mt::stochastic_gradient_push<irregular<3>>>;
struct in_f32 : mt::precision<mt::replicas<train_step, replica, push_and_clients>, mt::f32> {};
}  // namespace
TEST_CASE("a sample without clients is refused when the policy is traced") {
  std::string refusal;
  try {
    program::of<in_f64<mt::replicas<train_step, replica, no_clients>>>();
  } catch (mt::error const& e) { refusal = e.what(); }
  CHECK(refusal.find("S23: a sample of clients has at least one client") != std::string::npos);
}
TEST_CASE("clients whose parameters are weighted by push-sum train in any precision") {
  program exact = program::of<in_f64<mt::replicas<train_step, replica, push_and_clients>>>(),
          rounded = program::of<in_f32>();
  for (program* p : {&exact, &rounded}) {
    p->run();
    p->settings.step = 0;
    for (auto& [path, b] : p->variables) {
      bool const is_one = path == "regime/examples" || path == "regime/push_sum_weight";
      numbers const w = drawn(static_cast<std::size_t>(b.size()), 5);
      for (std::int64_t i = 0; i < b.size(); ++i)
        b.set(i, is_one ? 1 : path.starts_with("optimizer/") ? 0 : w[static_cast<std::size_t>(i)]);
    }
    for (int step = 0; step < 7; ++step)
      p->fill("x", drawn(8 * n, 100 + static_cast<std::uint64_t>(step))), p->fill("y", drawn(4 * n, 7)), p->run();
  }
  for (std::string const path : {"gain", "regime/push_sum_weight"})
    for (std::int64_t i = 0; i < exact.variables.at(path).size(); ++i)
      CHECK(std::abs(exact.variables.at(path).number_at(i) - rounded.variables.at(path).number_at(i)) < 1e-5);
}
