// SPDX-License-Identifier: Apache-2.0
// Replicas of an unchanged training step: synchronous training beside the plain step, and stochastic gradient push
// beside a loop over replicas on the host.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/regime/regime.hpp"

#include <map>

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using trial::numbers_of, trial::program;

namespace {

inline constexpr struct replica_dim : mt::dim<"replica"> {} replica;
inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;
inline constexpr struct out_dim : mt::dim<"out", 3> {} out;

using numbers = std::vector<double>;
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};

numbers drawn(std::size_t count, std::uint64_t seed) {
  trial::stream s{seed};
  numbers all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(s.between(-1, 1));
  return all;
}

/// The training step of one replica. It does not know of others.
template <class Optimizer>
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const y = s.input("y", s.real(), batch);
    auto const h = tanh(mt::nn::linear(s / "first", x, in, out));
    auto const error = sum(h * s.parameter("gain", out, mt::constant(0.5)), out) - y;
    auto const loss = mean(error * error);
    Optimizer{}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct clipped_adam : mt::adam {
  constexpr clipped_adam() : mt::adam{.learning_rate = 0.05, .clip_norm = 0.5} {}
};
struct plain_momentum : mt::momentum {
  constexpr plain_momentum() : mt::momentum{.learning_rate = 0.1, .decay = 0.8} {}
};

bool is_parameter(std::string const& path) { return path.find('/') == std::string::npos || path.starts_with("first/"); }

/// Makes the variables, which the first run does, and lets all replicas start with the same numbers.
void start_equal(program& alone, program& many, int n) {
  alone.run(), many.run();
  alone.settings.step = many.settings.step = 0;
  for (auto& [path, b] : alone.variables) {
    mt::block& spread = many.variables.at(path);
    REQUIRE(spread.size() == n * b.size());
    numbers const start = drawn(static_cast<std::size_t>(b.size()), 5);
    for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, is_parameter(path) ? start[static_cast<std::size_t>(i)] : 0);
    for (std::int64_t i = 0; i < n * b.size(); ++i) spread.set(i, b.number_at(i % b.size()));
  }
}

template <class Optimizer>
void compare_synchronous(int n) {
  program alone = program::of<in_f64<train_step<Optimizer>>>({batch(4 * n)});
  program many =
      program::of<in_f64<mt::replicas<train_step<Optimizer>, replica, mt::synchronous>>>({batch(4), replica(n)});
  start_equal(alone, many, n);
  for (int step = 0; step < 5; ++step) {
    auto const size = static_cast<std::size_t>(4 * n);
    numbers const x = drawn(2 * size, 100 + static_cast<std::uint64_t>(step)), y = drawn(size, 7);
    alone.fill("x", x), many.fill("x", x), alone.fill("y", y), many.fill("y", y);
    numbers const losses = numbers_of(many.run().at("loss"));
    double mean = 0;
    for (double const l : losses) mean += l / n;
    CHECK(mean == doctest::Approx(numbers_of(alone.run().at("loss"))[0]).epsilon(1e-12));
  }
  for (auto const& [path, b] : alone.variables)
    for (std::int64_t i = 0; i < n * b.size(); ++i)
      CHECK(many.variables.at(path).number_at(i) == doctest::Approx(b.number_at(i % b.size())).epsilon(1e-11));
}

}  // namespace

TEST_CASE("synchronous replicas train like one model with the batches of all") {
  for (int const n : {1, 2, 3, 6}) {
    compare_synchronous<clipped_adam>(n);
    compare_synchronous<plain_momentum>(n);
  }
}

TEST_CASE("stochastic gradient push equals its algorithm, replica by replica") {
  for (int const n : {1, 2, 3, 4, 6, 8}) {
    program alone = program::of<in_f64<train_step<plain_momentum>>>({batch(4)});
    program many =
        program::of<in_f64<mt::replicas<train_step<plain_momentum>, replica, mt::stochastic_gradient_push<>>>>(
            {batch(4), replica(n)});
    std::vector<std::map<std::string, numbers>> state(static_cast<std::size_t>(n));
    numbers weight(static_cast<std::size_t>(n), 1);
    start_equal(alone, many, n);
    for (auto& [path, b] : alone.variables)
      for (auto& of_one : state) of_one[path] = numbers_of(b);
    int rounds = 0;
    while (1 << rounds < n) ++rounds;
    for (int step = 0; step < 7; ++step) {
      numbers const x = drawn(static_cast<std::size_t>(8 * n), 100 + static_cast<std::uint64_t>(step));
      numbers const y = drawn(static_cast<std::size_t>(4 * n), 7);
      many.fill("x", x), many.fill("y", y);
      numbers const losses = numbers_of(many.run().at("loss"));
      for (std::size_t i = 0; i < state.size(); ++i) {
        for (auto& [path, b] : alone.variables)
          for (std::int64_t k = 0; k < b.size(); ++k) b.set(k, state[i][path][static_cast<std::size_t>(k)]);
        auto const at = [](numbers const& all, std::size_t first, std::size_t count) {
          return numbers(all.begin() + static_cast<long>(first), all.begin() + static_cast<long>(first + count));
        };
        alone.fill("x", at(x, 8 * i, 8)), alone.fill("y", at(y, 4 * i, 4));
        CHECK(losses[i] == doctest::Approx(numbers_of(alone.run().at("loss"))[0]).epsilon(1e-12));
        for (auto& [path, b] : alone.variables) {
          for (std::size_t k = 0; k < state[i][path].size(); ++k) {
            double& s = state[i][path][k];
            double const next = b.number_at(static_cast<std::int64_t>(k));
            s = is_parameter(path) ? weight[i] * s + (next - s) : next;  // the numerator x of a parameter
          }
        }
      }
      auto const hop = static_cast<std::size_t>(rounds == 0 ? 1 : 1 << step % rounds) % state.size();
      auto const before = state;
      numbers const weights = weight;
      for (std::size_t i = 0; i < state.size(); ++i) {
        std::size_t const from = (i + state.size() - hop) % state.size();
        weight[i] = (weights[i] + weights[from]) / 2;
        for (auto& [path, s] : state[i])
          if (is_parameter(path))
            for (std::size_t k = 0; k < s.size(); ++k)
              s[k] = (before[i].at(path)[k] + before[from].at(path)[k]) / 2 / weight[i];
      }
      CHECK(numbers_of(many.variables.at("regime/push_sum_weight")) == weight);
      for (std::size_t i = 0; i < state.size(); ++i)
        for (auto const& [path, s] : state[i])
          for (std::size_t k = 0; k < s.size(); ++k)
            CHECK(many.variables.at(path).number_at(static_cast<std::int64_t>(i * s.size() + k)) ==
                  doctest::Approx(s[k]).epsilon(1e-11));
    }
  }
}

namespace {
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto const counted = s.state("counted", mt::i64);
    auto const average = s.state("average", s.real(), out);
    s.output("gain", s.parameter("gain", out, mt::constant(0.5)));
    s.output("average", average);
    s.output("counted", counted);
  }
};
using pushed = mt::replicas<train_step<plain_momentum>, replica, mt::stochastic_gradient_push<>>;
using averaged = mt::replicas<train_step<plain_momentum>, replica, mt::synchronous>;
}  // namespace

TEST_CASE("consensus is the mean of parameters by weight, of other floats, and the largest of integers") {
  auto const run = [](program p) {
    p.run();
    CHECK(p.inputs.empty());
    for (int i = 0; i < 12; ++i) p.variables.at("gain").set(i, i), p.variables.at("average").set(i, 100 + i);
    for (int i = 0; i < 4; ++i) p.variables.at("counted").set(i, i == 2 ? (1ll << 53) + 2 : 7);
    if (auto const w = p.variables.find("regime/push_sum_weight"); w != p.variables.end())
      for (int i = 0; i < 4; ++i) w->second.set(i, i == 3 ? 2.5 : 0.5);
    return p.run();
  };
  mt::blocks const weighted = run(program::of<in_f64<mt::consensus<evaluate, pushed>>>({replica(4)}));
  CHECK(numbers_of(weighted.at("gain")) == numbers{6.75, 7.75, 8.75});
  CHECK(numbers_of(weighted.at("average")) == numbers{104.5, 105.5, 106.5});
  CHECK(numbers_of(weighted.at("counted")) == numbers{9007199254740994.0});
  mt::blocks const equal = run(program::of<in_f64<mt::consensus<evaluate, averaged>>>({replica(4)}));
  CHECK(numbers_of(equal.at("gain")) == numbers{4.5, 5.5, 6.5});
}

TEST_CASE("consensus has the precision of the replicas, or the same one of its program") {
  auto const types = []<class Program>(Program*) {
    auto const m = std::make_unique<mt::module>(mt::trace<Program>());
    std::map<std::string, mt::dtype> all;
    for (int i = 0; i < m->variable_count; ++i) all[mt::path_text(*m, m->variables[i].path)] = m->variables[i].type;
    return all;
  };
  auto const expected = types(static_cast<in_f64<mt::consensus<evaluate, pushed>>*>(nullptr));
  CHECK(expected.at("regime/push_sum_weight") == mt::f64);
  CHECK(types(static_cast<mt::consensus<evaluate, in_f64<pushed>>*>(nullptr)) == expected);
  CHECK(types(static_cast<mt::consensus<in_f64<evaluate>, in_f64<pushed>>*>(nullptr)) == expected);
  CHECK(types(static_cast<mt::consensus<in_f64<evaluate>, pushed>*>(nullptr)) == expected);
  CHECK(types(static_cast<mt::consensus<evaluate, mt::precision<pushed, mt::bf16>>*>(nullptr)).at("gain") == mt::bf16);
}

TEST_CASE("names of programs, parameters and counts are those of the program inside") {
  CHECK(mt::entry_name<pushed>() == mt::entry_name<train_step<plain_momentum>>());
  CHECK(mt::entry_name<in_f64<mt::consensus<evaluate, pushed>>>() == mt::entry_name<evaluate>());
  CHECK(mt::entry_name<mt::consensus<in_f64<evaluate>, in_f64<pushed>>>() == mt::entry_name<evaluate>());
  using of_precise = mt::replicas<in_f64<train_step<plain_momentum>>, replica, mt::synchronous>;
  CHECK(mt::entry_name<of_precise>() == mt::entry_name<pushed>());
  std::unique_ptr<mt::module> const m(new mt::module(mt::trace<of_precise>()));
  CHECK(m->variables[0].type == mt::f64);
}

namespace {
inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct model_axis : mt::axis<"model"> {} model;
using plain_layout = mt::layout<mt::shard<batch, data>, mt::shard<out, model, data>,
                                mt::in<"optimizer", mt::shard<in, data>>, mt::replicate<in>>;
}  // namespace

TEST_CASE("the layout of replicas gives them the axis of the batch") {
  constexpr mt::layout_rules const& r = mt::over_replicas<plain_layout, replica, data>::sharding_rules;
  CHECK(r.count == 4);
  CHECK(r.rules[0].dim == out.dim_name);
  CHECK(r.rules[0].count == 1);
  CHECK(r.rules[0].axes[0] == model.axis_name);
  CHECK(r.rules[1].scope == mt::name("optimizer"));
  CHECK(r.rules[1].count == 0);
  CHECK(r.rules[2].dim == in.dim_name);
  CHECK(r.rules[3].dim == replica.dim_name);
  CHECK(r.rules[3].axes[0] == data.axis_name);
}
