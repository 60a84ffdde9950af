// SPDX-License-Identifier: Apache-2.0
// A small training of one model, its replicas under several policies, and the mean that they stand for, with any number
// of replicas on any number of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace replica_programs {
namespace mt = meshtensor;

inline constexpr struct replica_dim : mt::dim<"replica"> {} replica;
inline constexpr struct batch_dim : mt::dim<"batch", 2> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
inline constexpr struct hidden_dim : mt::dim<"hidden", 6> {} hidden;
inline constexpr struct next_dim : mt::dim<"next", hidden + 0> {} next;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;
inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct model_axis : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct by_replicas : mt::layout<mt::shard<replica, data>, mt::shard<hidden, model>> {};
struct of_one : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model>> {};

inline constexpr mt::layer square = [](mt::scope auto s, auto x) {
  auto const w = s.parameter("w", hidden, next, mt::normal(0.3));
  return x + tanh(rename(einsum(x, w, mt::to(batch, next)), next, hidden));
};
inline constexpr mt::layer network = [](mt::scope auto s, auto x) {
  auto const w = s.parameter("first", in, hidden, mt::normal(0.5));
  auto const first = tanh(einsum(x, w, mt::to(batch, hidden)));
  auto const h =
      mt::repeat(s / "layers", layers, first, [](mt::scope auto l, auto v) { return square(l / "square", v); });
  return sum(h * s.parameter("gain", hidden, mt::constant(0.5)), hidden);
};
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const error = network(s, x) - s.state("target", s.real());
    auto const loss = mean(error * error);
    mt::adam{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
    auto const count = s.state("count", mt::i64);
    s.update(count, count + 1);
    auto const target = s.state("target", s.real());
    s.update(target, target * 0.5 + mean(x));
    s.output("loss", loss);
  }
};
struct look {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", network(s, s.input("x", s.real(), batch, in)) + s.state("target", s.real()));
  }
};

using pushed = mt::stochastic_gradient_push<mt::random_out_degrees<5>>;
template <class Policy>
using replicas_of = mt::replicas<train_step, replica, Policy>;
template <class Program, class Layout>
using run_in_f64 = mt::executable<mt::precision<Program, mt::f64>, mesh, Layout, mt::reference_device>;

/// Numbers of a step that differ from replica to replica.
inline std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<double> all(count);
  for (double& x : all)
    x = static_cast<double>((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 40) * 0x1p-24;
  return all;
}

/// The values of a store, whole, by their names.
inline std::map<std::string, std::string> bytes_of(mt::store& weights) {
  std::map<std::string, std::string> all;
  for (auto& [label, s] : weights.values()) {
    all[label].resize(static_cast<std::size_t>(s.bytes()));
    weights.copy_out(label, all[label].data());
  }
  return all;
}
template <class T>
std::vector<T> numbers_of(mt::store& weights, std::string const& label) {
  auto const whole = weights.get<T>(label);
  return std::vector<T>(whole.data(), whole.data() + whole.size());
}

/// The training of one model, without replicas.
struct plain_training {
  explicit plain_training(mt::job const& job, int on_data = 1, int on_model = 1, std::uint64_t seed = 3)
      : weights(job, seed),
        step(weights, data(on_data), model(on_model)),
        looks(weights, data(on_data), model(on_model)) {}
  void once() { step(mt::feed<"x">(numbers(8, weights.step() + 1))); }
  std::vector<double> looked() {
    auto const y = looks(mt::feed<"x">(numbers(8, 99))).get<"y">().gather();
    return std::vector<double>(y.data(), y.data() + y.size());
  }
  mt::store weights;
  run_in_f64<train_step, of_one> step;
  run_in_f64<look, of_one> looks;
};

/// A training with some replicas on some ranks. At the start, the replicas differ in their parameters and counts.
template <class Policy, class Layout = by_replicas>
struct replica_training {
  replica_training(mt::job const& job, int replicas, int on_data, int on_model = 1, std::uint64_t seed = 3)
      : weights(job, seed),
        n(replicas),
        step(weights, replica(replicas), data(on_data), model(on_model)),
        look_at_mean(weights, replica(replicas), data(on_data), model(on_model)) {
    auto gains = weights.get<double>("gain");
    for (std::int64_t i = 0; i < gains.size(); ++i) gains.data()[i] += static_cast<double>(i) / 16;
    weights.set("gain", gains);
    std::vector<std::int64_t> begun;
    for (int i = 0; i < n; ++i) begun.push_back(10 * i);
    weights.set("count", begun);
  }
  /// Takes a step and returns the sum of the losses of all replicas.
  double once() {
    auto const x = numbers(static_cast<std::size_t>(8 * n), weights.step() + 1);
    double sum = 0;
    for (double const loss : step(mt::feed<"x">(x)).template get<"loss">().gather()) sum += loss;
    return sum;
  }
  /// What the mean of all replicas computes.
  std::vector<double> looked() {
    auto const y = look_at_mean(mt::feed<"x">(numbers(8, 99))).template get<"y">().gather();
    return std::vector<double>(y.data(), y.data() + y.size());
  }
  template <class T>
  std::vector<T> of(std::string const& label) {
    return numbers_of<T>(weights, label);
  }
  std::map<std::string, std::string> bytes() { return bytes_of(weights); }

  mt::store weights;
  int n;
  run_in_f64<replicas_of<Policy>, Layout> step;
  run_in_f64<mt::consensus<look, replicas_of<Policy>>, Layout> look_at_mean;
};

}  // namespace replica_programs
