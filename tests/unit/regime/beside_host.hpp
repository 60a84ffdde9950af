// SPDX-License-Identifier: Apache-2.0
// Runs a policy beside its algorithm on the host: one replica after the other, with plain loops over their parameters.
#pragma once

#include "meshtensor/nn/nn.hpp"
#include "meshtensor/regime/regime.hpp"

#include <cmath>
#include <functional>
#include <map>

#include "unit/op/trial.hpp"

namespace beside_host {

namespace mt = meshtensor;
using trial::numbers_of, trial::program;

inline constexpr struct replica_dim : mt::dim<"replica", 6> {} replica;
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;
inline constexpr struct out_dim : mt::dim<"out", 3> {} out;
constexpr int n = 6;

using numbers = std::vector<double>;
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};

inline numbers drawn(std::size_t count, std::uint64_t seed) {
  trial::stream s{seed};
  numbers all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(s.between(-1, 1));
  return all;
}

/// The training step of one replica.
template <class Optimizer>
struct trained_by {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const y = s.input("y", s.real(), batch);
    auto const first = tanh(mt::nn::linear(s / "first", x, in, out));
    auto const error = sum(first * s.parameter("gain", out, mt::constant(0.5)), out) - y;
    auto const loss = mean(error * error);
    Optimizer{}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

struct with_momentum : mt::momentum {
  constexpr with_momentum() : mt::momentum{.learning_rate = 0.1, .decay = 0.8} {}
};
using train_step = trained_by<with_momentum>;

/// Steps against the gradient, from whose length a test finds the gradient again.
struct plain : mt::sgd {
  constexpr plain() : mt::sgd{.learning_rate = 0.1} {}
};
using plain_step = trained_by<plain>;

/// The parameters of all replicas, one after the other: what the program reads, and what its step makes of them.
using values = std::vector<numbers>;
using mixing = std::function<values(values const& before, values const& after, std::map<std::string, values>& states,
                                    std::string const& path, int step)>;

/// Each replica's sum of what it keeps and receives in a round.
template <mt::topology T>
values mixed(values const& x, int round) {
  values all(x.size());
  for (int i = 0; i < n; ++i) {
    auto const at = static_cast<std::size_t>(i);
    for (double const one : x[at]) all[at].push_back(T::kept(n, round, i) * one);
    for (int slot = 0; slot < T::slots(n); ++slot) {
      mt::edge const e = T::incoming(n, round, i, slot);
      for (std::size_t k = 0; e.source >= 0 && k < x[at].size(); ++k)
        all[at][k] += e.weight * x[static_cast<std::size_t>(e.source)][k];
    }
  }
  return all;
}
inline values combined(values const& a, values const& b, auto f) {
  values all = a;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].size(); ++k) all[i][k] = f(a[i][k], b[i][k]);
  return all;
}
inline values mean(values const& x) {
  numbers all(x[0].size());
  for (numbers const& one : x)
    for (std::size_t k = 0; k < all.size(); ++k) all[k] += one[k] / n;
  return values(x.size(), all);
}
/// A weight for each element of parameters with as many elements as those of `like`.
inline values spread(values const& weights, values const& like) {
  values all = like;
  for (std::size_t i = 0; i < like.size(); ++i) all[i].assign(like[i].size(), weights[i][0]);
  return all;
}
constexpr auto plus = [](double a, double b) { return a + b; };
constexpr auto minus = [](double a, double b) { return a - b; };
constexpr auto times = [](double a, double b) { return a * b; };
constexpr auto over = [](double a, double b) { return a / b; };

/// `given` has values of the policy's states for all replicas, in place of 0.
template <class Policy, class Step = train_step>
void compare(int steps, mixing const& policy, std::vector<std::string> const& its_states = {},
             std::map<std::string, numbers> const& given = {}) {
  program alone = program::of<in_f64<Step>>(), many = program::of<in_f64<mt::replicas<Step, replica, Policy>>>();
  alone.run(), many.run();
  alone.settings.step = many.settings.step = 0;
  std::map<std::string, values> expected, states;
  for (auto& [path, b] : many.variables) {
    if (path == "regime/push_sum_weight") {
      for (int i = 0; i < n; ++i) b.set(i, 1);
      states[path] = values(n, numbers{1});
    } else if (path.starts_with("regime/")) {
      for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, 0);
      states[path] = values(n, numbers(static_cast<std::size_t>(b.size() / n)));
    }
  }
  for (auto const& [path, all] : given)
    for (std::size_t i = 0; i < all.size(); ++i) many.variables.at(path).set(static_cast<std::int64_t>(i), all[i]);
  for (auto const& [path, b] : alone.variables) {
    bool const is_parameter = !path.starts_with("optimizer/");
    auto const size = static_cast<std::size_t>(b.size());
    expected[path] = values(n, is_parameter ? drawn(size, 5) : numbers(size));
    mt::block& all = many.variables.at(path);
    REQUIRE(all.size() == n * b.size());
    for (std::int64_t i = 0; i < all.size(); ++i) all.set(i, expected[path][0][static_cast<std::size_t>(i) % size]);
  }
  for (int step = 0; step < steps; ++step) {
    numbers const x = drawn(8 * n, 100 + static_cast<std::uint64_t>(step)), y = drawn(4 * n, 7);
    many.fill("x", x), many.fill("y", y);
    numbers const losses = numbers_of(many.run().at("loss"));
    std::map<std::string, values> const before = expected;
    for (std::size_t i = 0; i < n; ++i) {
      for (auto& [path, b] : alone.variables)
        for (std::int64_t k = 0; k < b.size(); ++k) b.set(k, before.at(path)[i][static_cast<std::size_t>(k)]);
      alone.fill("x", numbers(x.begin() + static_cast<long>(8 * i), x.begin() + static_cast<long>(8 * i + 8)));
      alone.fill("y", numbers(y.begin() + static_cast<long>(4 * i), y.begin() + static_cast<long>(4 * i + 4)));
      CHECK(losses[i] == doctest::Approx(numbers_of(alone.run().at("loss"))[0]).epsilon(1e-10));
      for (auto const& [path, b] : alone.variables) expected[path][i] = numbers_of(b);
    }
    std::map<std::string, values> const at_start = states;
    for (auto& [path, after] : expected)
      if (!path.starts_with("optimizer/")) {
        states["regime/push_sum_weight"] =
            at_start.contains("regime/push_sum_weight") ? at_start.at("regime/push_sum_weight") : values(n, numbers{1});
        after = policy(before.at(path), after, states, path, step);
      }
    for (auto const& [path, wanted] : expected)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < wanted[i].size(); ++k)
          CHECK(many.variables.at(path).number_at(static_cast<std::int64_t>(i * wanted[i].size() + k)) ==
                doctest::Approx(wanted[i][k]).epsilon(1e-10));
    for (std::string const& path : its_states)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < states[path][i].size(); ++k)
          CHECK(many.variables.at(path).number_at(static_cast<std::int64_t>(i * states[path][i].size() + k)) ==
                doctest::Approx(states[path][i][k]).epsilon(1e-10));
  }
}

/// The numerators x = w p after the optimizer's step, which are mixed and divided by the mixed weight.
template <mt::topology T, bool Overlapped>
values push(values const& before, values const& after, std::map<std::string, values>& states, std::string const&,
            int step) {
  values& w = states["regime/push_sum_weight"];
  values const x = combined(before, spread(w, before), times), way = combined(after, before, minus);
  w = mixed<T>(w, step);
  values const all = Overlapped ? combined(mixed<T>(x, step), way, plus) : mixed<T>(combined(x, way, plus), step);
  return combined(all, spread(w, all), over);
}
template <bool Nesterov>
mixing outer(int period, double rate, double decay) {
  return [=](values const& before, values const& after, std::map<std::string, values>& states, std::string const& path,
             int step) {
    values &start = states["start of " + path], &velocity = states["velocity of " + path];
    if (velocity.empty()) velocity = values(before.size(), numbers(before[0].size()));
    if (step % period == 0) start = before;
    if ((step + 1) % period != 0) return after;
    values const gradient = combined(start, mean(after), minus);
    velocity = combined(velocity, gradient, [&](double v, double g) { return v * decay + g; });
    values const way =
        Nesterov ? combined(velocity, gradient, [&](double v, double g) { return v * decay + g; }) : velocity;
    return combined(start, way, [&](double s, double u) { return s - rate * u; });
  };
}

/// Worker 0 gets a share of all others, so it has more than they. Each also sends to the next one.
struct towards_first {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int workers) { return workers - 1; }
  static constexpr mt::edge incoming(int workers, std::int64_t, int worker, int slot) {
    if (worker == 0) return {slot + 1, slot + 2 == workers ? 2.0 / 3 : 1.0 / 3};
    return slot == 0 ? mt::edge{worker - 1, worker == 1 ? 0.5 : 1.0 / 3} : mt::edge{};
  }
  static constexpr double kept(int, std::int64_t, int worker) { return worker == 0 ? 0.5 : 1.0 / 3; }
};
template <int Seed>
using irregular = mt::random_out_degrees<Seed>;

}  // namespace beside_host
