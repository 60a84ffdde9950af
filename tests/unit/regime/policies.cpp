// SPDX-License-Identifier: Apache-2.0
// Every policy beside its algorithm on the host: one replica after the other, with plain loops over their parameters.
// passes: start-up
#include "meshtensor/op/sort.hpp"

#include "unit/regime/beside_host.hpp"

using namespace beside_host;

namespace {

/// A program that learns nothing.
struct idle {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", out);
    s.update(w, w);
  }
};

/// The third of the six gradients of all replicas in ascending order, for each element.
inline constexpr struct others_dim : mt::dim<"others", replica + 0> {} others;
struct third_of_all {
  template <class Replica, class G>
  constexpr G gradient(Replica const& r, G const& g) const {
    auto const [in_order, from] = sort(r.gathered(g, others), others);
    return gather(in_order, full(r.scope, 2, mt::i32), others);
  }
};
/// Names a state by a value that the optimizer has computed.
struct state_of_no_parameter {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    r.scope.state_like("velocity", r[0].after);
  }
};

}  // namespace

TEST_CASE("stochastic gradient push on topologies whose weights are equal and on others") {
  std::vector<std::string> const weight{"regime/push_sum_weight"};
  compare<mt::stochastic_gradient_push<mt::one_peer_exponential>>(7, push<mt::one_peer_exponential, false>, weight);
  compare<mt::stochastic_gradient_push<mt::torus>>(3, push<mt::torus, false>, weight);
  compare<mt::stochastic_gradient_push<irregular<3>>>(7, push<irregular<3>, false>, weight);
  compare<mt::stochastic_gradient_push<towards_first>>(4, push<towards_first, false>, weight);
}
TEST_CASE("overlapped push sends at the head of a step") {
  std::vector<std::string> const weight{"regime/push_sum_weight"};
  compare<mt::overlapped_gradient_push<mt::one_peer_exponential>>(7, push<mt::one_peer_exponential, true>, weight);
  compare<mt::overlapped_gradient_push<irregular<4>>>(7, push<irregular<4>, true>, weight);
}
TEST_CASE("decentralized SGD is overlapped push without weights, where each receives as much as it sends") {
  auto const gossip = [](values const& before, values const& after, std::map<std::string, values>&, std::string const&,
                         int step) {
    return combined(mixed<mt::ring>(before, step), combined(after, before, minus), plus);
  };
  compare<mt::decentralized_sgd<>>(5, gossip);
  using push_on_ring = mt::replicas<train_step, replica, mt::overlapped_gradient_push<mt::ring>>;
  program a = program::of<in_f64<push_on_ring>>(),
          b = program::of<in_f64<mt::replicas<train_step, replica, mt::decentralized_sgd<mt::ring>>>>();
  for (int step = 0; step < 5; ++step) {
    a.fill_at_random(-1, 1, static_cast<std::uint64_t>(step + 1)), b.inputs = a.inputs;
    CHECK(numbers_of(a.run().at("loss")) == numbers_of(b.run().at("loss")));  // the same bits
  }
  CHECK(numbers_of(a.variables.at("gain")) == numbers_of(b.variables.at("gain")));
}
TEST_CASE("mass is conserved where nothing is learned, and only weights remove the bias") {
  auto const run = []<class Policy>(Policy const*, int steps) {
    program p = program::of<in_f64<mt::replicas<idle, replica, Policy>>>();
    p.run();
    p.settings.step = 0;
    numbers const start = drawn(n * 3, 11);
    for (int i = 0; i < n * 3; ++i) p.variables.at("w").set(i, start[static_cast<std::size_t>(i)]);
    for (int i = 0; i < n; ++i)
      if (auto const w = p.variables.find("regime/push_sum_weight"); w != p.variables.end()) w->second.set(i, 1);
    for (int step = 0; step < steps; ++step) p.run();
    return std::pair(start, std::move(p));
  };
  using pushed = mt::stochastic_gradient_push<towards_first>;
  auto const [start, p] = run(static_cast<pushed const*>(nullptr), 1000);
  numbers const w = numbers_of(p.variables.at("regime/push_sum_weight")), z = numbers_of(p.variables.at("w"));
  double mass = 0, least = w[0], most = w[0];
  for (double const one : w) mass += one, least = std::min(least, one), most = std::max(most, one);
  CHECK(std::abs(mass - n) < 1e-12 * n);
  CHECK(most - least > 0.1);  // the topology is irregular
  for (std::size_t k = 0; k < 3; ++k) {
    double before = 0, now = 0;
    for (std::size_t i = 0; i < n; ++i) before += start[3 * i + k], now += w[i] * z[3 * i + k];
    CHECK(std::abs(now - before) < 1e-12 * n);
    for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(z[3 * i + k] - before / n) < 1e-10);
  }
  auto const [first, biased] = run(static_cast<mt::decentralized_sgd<towards_first> const*>(nullptr), 1000);
  double worst = 0;  // the largest distance from the mean, by the range of the first values
  for (std::size_t k = 0; k < 3; ++k) {
    double before = 0, low = 1, high = -1;
    for (std::size_t i = 0; i < n; ++i) {
      double const one = first[3 * i + k];
      before += one / n, low = std::min(low, one), high = std::max(high, one);
    }
    for (std::size_t i = 0; i < n; ++i)
      worst = std::max(worst, std::abs(numbers_of(biased.variables.at("w"))[3 * i + k] - before) / (high - low));
  }
  CHECK(worst > 0.1);
}

TEST_CASE("biased push mixes parameters without a weight") {
  compare<mt::biased_gradient_push<irregular<3>>>(5, [](values const&, values const& after, auto&, std::string const&,
                                                        int step) { return mixed<irregular<3>>(after, step); });
}

TEST_CASE("a policy sorts the values of all replicas along a dim of its own") {
  compare<third_of_all, plain_step>(4, [](values const& before, values const& after, auto&, std::string const&, int) {
    values const ways = combined(before, after, minus);
    values all = before;
    for (std::size_t k = 0; k < before[0].size(); ++k) {
      numbers of_all;
      for (numbers const& one : ways) of_all.push_back(one[k]);
      std::ranges::sort(of_all);
      for (numbers& one : all) one[k] -= of_all[2];
    }
    return all;
  });
}
TEST_CASE("a state is like a parameter, and not like the value that a step gives it") {
  std::string refusal;
  try {
    program::of<in_f64<mt::replicas<train_step, replica, state_of_no_parameter>>>();
  } catch (mt::error const& e) { refusal = e.what(); }
  CHECK(refusal.find("G08: state_like: the argument is not a parameter or state") != std::string::npos);
  CHECK(refusal.find("policies.cpp") != std::string::npos);
}
