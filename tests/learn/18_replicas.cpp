// SPDX-License-Identifier: Apache-2.0
// Lesson 18. You learn to train replicas of a model that need not be equal. The training step of one replica does not
// change. A policy says what replicas exchange, a topology says with whom, and the consensus is the model of all.
// passes: start-up
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width", 2> {} width;

// The training step of one replica, and an evaluation. Both would also train and evaluate a single model.
inline constexpr mt::layer error_of = [](mt::scope auto s) {
  auto x = s.input("x", mt::f32, batch, width);
  return einsum(x, s.parameter("w", width, mt::constant(0.5)), to(batch)) - s.input("y", mt::f32, batch);
};
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto error = error_of(s);
    auto loss = mean(error * error);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto error = error_of(s);
    s.output("loss", mean(error * error));
    s.output("w", s.parameter("w", width, mt::constant(0.5)));
  }
};

// Three lines make replicas of it: who trains, who computes where, and which model is the result.
inline constexpr struct replica : mt::dim<"replica", 4> {} replica;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};  // of the single model: each rank has a part of the batch

template <class Policy>
struct train : mt::replicas<train_step, replica, Policy> {};
struct layout_of_replicas : mt::over_replicas<layout, replica, data> {};  // each rank has some of the replicas
template <class Policy>
struct evaluate_mean : mt::consensus<evaluate, train<Policy>> {};

// A policy of your own is a type with one or both of two functions. `gradient` makes the gradient that the optimizer
// uses. `after_update` sees each parameter before and after the step, and may set another value. Here each replica
// takes its own step, and moves a tenth of the way to the mean of all replicas.
struct elastic {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    for (int i = 0; i < r.size(); ++i) {
      auto const [before, after] = r[i];
      r.set(r[i], after + 0.1 * (r.mean(before) - before));
    }
  }
};

// A topology of your own is a type with four functions. Here replica 0 hears of all others, and all others of it.
struct star {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int n) { return n - 1; }
  static constexpr mt::edge incoming(int n, std::int64_t, int own, int slot) {
    if (own == 0) return {slot + 1, 0.5};
    return slot == 0 ? mt::edge{0, 1.0 / n} : mt::edge{};
  }
  static constexpr double kept(int n, std::int64_t, int own) { return own == 0 ? 1.0 / n : 0.5; }
};

// Eight examples: the batch of one model, or two for each of four replicas.
std::vector<float> const x{1, 0, 0, 1, 1, 1, 1, -1, 2, 0, 0, 2, 2, 1, 1, 2}, y{1, 2, 1, -1, 4, 2, 0, 5};

struct outcome {
  std::vector<float> mean, each;  // the parameters of the consensus, and of all replicas
  std::int64_t bytes;             // that a rank receives in a step
};

std::vector<float> numbers_of(mt::any_array<float> const& a) { return {a.data(), a.data() + a.size()}; }

// Trains replicas for some steps on this many ranks.
template <class Policy>
outcome trained(int steps, int count) {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<train<Policy>, mesh, layout_of_replicas> step(weights, data(count), batch(2));
  mt::executable<evaluate_mean<Policy>, mesh, layout_of_replicas> evaluation(weights, data(count), batch(8));
  for (int i = 0; i < steps; ++i) step(mt::feed<"x">(x), mt::feed<"y">(y));
  return {numbers_of(evaluation(mt::feed<"x">(x), mt::feed<"y">(y)).template get<"w">().gather()),
          numbers_of(weights.get<float>("w")), mt::traffic_of(step.graph(), step.planned()).bytes};
}
std::vector<float> trained_alone(int steps) {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<train_step, mesh, layout> step(weights, data(2), batch(8));
  for (int i = 0; i < steps; ++i) step(mt::feed<"x">(x), mt::feed<"y">(y));
  return numbers_of(weights.get<float>("w"));
}
// The largest difference between replicas.
float spread_of(outcome const& o) {
  float most = 0;
  for (std::size_t i = 0; i < o.each.size(); ++i) most = std::max(most, std::abs(o.each[i] - o.mean[i % 2]));
  return most;
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("each replica has parameters of its own, which are stored as one array") {
  static constexpr mt::module traced = mt::trace<train<mt::stochastic_gradient_push<>>>();
  CHECK(text_of(traced).find("parameter w: f32[replica, width]") != std::string::npos);
  CHECK(text_of(traced).find("state regime/push_sum_weight: f32[replica]") != std::string::npos);
}

TEST_CASE("synchronous replicas are equal, and train like one model with the batches of all") {
  auto const many = trained<mt::synchronous>(5, 4);
  auto const alone = trained_alone(5);
  CHECK(spread_of(many) < 1e-6f);
  for (std::size_t i = 0; i < 2; ++i) CHECK(many.mean[i] == doctest::Approx(alone[i]).epsilon(1e-5));
}

TEST_CASE("gossip keeps replicas near each other, and the results are the same on any number of ranks") {
  auto const pushed = trained<mt::stochastic_gradient_push<>>(20, 1);
  CHECK(spread_of(pushed) > 1e-3f);
  CHECK(spread_of(pushed) < spread_of(trained<elastic>(20, 1)));
  for (int const count : {2, 3, 4}) {
    auto const spread = trained<mt::stochastic_gradient_push<>>(20, count);
    for (std::size_t i = 0; i < 8; ++i) CHECK(spread.each[i] == doctest::Approx(pushed.each[i]).epsilon(1e-5));
  }
}

TEST_CASE("local SGD makes all replicas equal at the end of a period, and only there") {
  CHECK(spread_of(trained<mt::local_sgd<4>>(8, 4)) < 1e-6f);
  CHECK(spread_of(trained<mt::local_sgd<4>>(7, 4)) > 1e-3f);
}

TEST_CASE("a rank sends its replica to one neighbour, instead of reducing all of them") {
  auto const pushed = trained<mt::stochastic_gradient_push<>>(1, 4).bytes;
  auto const reduced = trained<mt::synchronous>(1, 4).bytes;
  CHECK(pushed == 3 * 4);   // the two numbers of w, and the weight
  CHECK(reduced == 4 * 4);  // two rounds with the two numbers of the gradient
}

TEST_CASE("facts of a topology are constants, and the compiler checks them") {
  static_assert(mt::facts_of<mt::one_peer_exponential>(8).deviation < 1e-12);  // three rounds give the exact mean
  static_assert(mt::facts_of<mt::one_peer_exponential>(6).deviation > 0.08);   // but not among six replicas
  static_assert(mt::facts_of<mt::base_graph<1>>(6).deviation < 1e-12);         // this one does for any number
  static_assert(mt::check_topology<star>(4).empty());
  CHECK(text_of(mt::facts_of<star>(4)).find("all are connected after 1 round") != std::string::npos);
  CHECK(spread_of(trained<mt::stochastic_gradient_push<star>>(20, 2)) < 1);
}
