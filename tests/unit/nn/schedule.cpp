// SPDX-License-Identifier: Apache-2.0
// Learning rates over the steps, and a moving average that follows a network.
#include "meshtensor/nn/schedule.hpp"

#include "meshtensor/nn/average.hpp"
#include "meshtensor/nn/sgd.hpp"
#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using trial::program;

namespace {

inline constexpr struct element_dim : mt::dim<"element", 2> {} element;

template <class F>
struct scheduled {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("one", mt::f64) * F{}(s)); }
};

template <class F>
std::vector<double> rates(F, int steps) {
  program p = program::of<scheduled<F>>();
  p.fill("one", {1});
  std::vector<double> r;
  for (int i = 0; i < steps; ++i) r.push_back(p.run().at("y").number_at(0));
  return r;
}

inline constexpr mt::layer network = [](mt::scope auto s, auto x) { return x * s.parameter("w", element, mt::ones); };

/// Descends by 1 a step; `average` follows.
struct averaged {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, element);
    mt::sgd{.learning_rate = 1}.minimize(s / "optimizer", sum(network(s / "network", x)));
    mt::moving_average{.decay = 0.75}.follow(s / "average", s / "network");
  }
};
/// Another program, which uses the average as the network.
struct evaluated {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", network(s / "average", s.input("x", mt::f32, element)));
  }
};
struct both : mt::programs<averaged, evaluated> {};

/// A state that counts by 1, and one of integers; the average follows the first one only, and another none.
struct of_states {
  constexpr void operator()(mt::scope auto s) const {
    auto const inner = s / "network";
    auto const x = s.input("x", mt::f32, element);
    auto const seen = counted(inner, x);
    mt::sgd{.learning_rate = 1}.minimize(s / "optimizer", sum(seen));
    mt::moving_average{.decay = 0.75, .states = true}.follow(s / "average", s / "network");
    mt::moving_average{.decay = 0.75}.follow(s / "of parameters", s / "network");
  }
  static constexpr mt::layer counted = [](mt::scope auto s, auto x) {
    auto const count = s.state("count", mt::f32);
    auto const steps = s.state("steps", mt::i64);
    s.update(count, count + 1);
    s.update(steps, steps + 1);
    return x * s.parameter("w", element, mt::ones);
  };
};

/// The copy takes part in the step: it is read before it changes.
struct target {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, element);
    auto const online = network(s / "network", x);
    auto const wanted = network(s / "copy" / "network", x);
    s.output("y", wanted);
    mt::sgd{.learning_rate = 1}.minimize(s / "optimizer", sum(online), s / "network");
    mt::moving_average{.decay = 0.5}.follow(s / "copy", s);
  }
};

}  // namespace

TEST_CASE("a rate falls by a factor at given steps") {
  auto const got = rates(
      [](auto s) { return mt::nn::warmup_stairs(s, s.number("peak", 2), 2, {3, s.number("second", 5), 6}, 0.5); }, 8);
  CHECK(got == std::vector<double>{1, 2, 2, 1, 1, 0.5, 0.25, 0.25});
}

TEST_CASE("warmup, then constant") {
  CHECK(rates([](auto s) { return mt::nn::warmup_constant(s, 8, 4); }, 6) == std::vector<double>{2, 4, 6, 8, 8, 8});
}

TEST_CASE("warmup, then half a cosine") {
  auto const r = rates([](auto s) { return mt::nn::warmup_cosine(s, 8, 2, 6, 0.25); }, 9);
  double const wanted[] = {
      4, 8, 8, 8 * (0.25 + 0.75 * (1 + std::sqrt(0.5)) / 2), 5, 8 * (0.25 + 0.75 * (1 - std::sqrt(0.5)) / 2), 2, 2, 2};
  for (std::size_t i = 0; i < r.size(); ++i) CHECK(r[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
}

TEST_CASE("warmup, then a straight fall") {
  CHECK(rates([](auto s) { return mt::nn::warmup_linear(s, 8, 2, 6); }, 8) ==
        std::vector<double>{4, 8, 8, 6, 4, 2, 0, 0});
}

TEST_CASE("inverse square root") {
  auto const r = rates([](auto s) { return mt::nn::inverse_square_root(s, 6, 4); }, 16);
  CHECK(r[0] == 1.5);
  CHECK(r[3] == 6);
  CHECK(r[15] == 3);
}

TEST_CASE("a schedule is made of numbers that are set by name") {
  CHECK(rates(
            [](auto s) {
              return mt::nn::warmup_cosine(s, s.number("peak", 2), s.number("warmup", 1), s.number("steps", 9));
            },
            2)[0] == 2);
}

TEST_CASE("a moving average follows what the optimizer has made, and starts with it") {
  program p = program::of<averaged>();
  p.fill("x", {1, 2});
  double w[] = {1, 1}, average[] = {0, 0};
  for (int step = 0; step < 5; ++step) {
    p.run();
    for (int i = 0; i < 2; ++i) {
      w[i] -= i + 1;
      average[i] = step == 0 ? w[i] : 0.75 * average[i] + 0.25 * w[i];
      CHECK(p.variables.at("network/w").number_at(i) == w[i]);
      CHECK(p.variables.at("average/w").number_at(i) == doctest::Approx(average[i]));
    }
  }
}

TEST_CASE("with `states` it follows those of the parameters' dtype, too") {
  program p = program::of<of_states>();
  p.fill("x", {1, 2});
  double average = 0;
  for (int step = 0; step < 5; ++step) {
    p.run();
    average = step == 0 ? 1 : 0.75 * average + 0.25 * (step + 1);
    CHECK(p.variables.at("network/count").number_at(0) == step + 1);
    CHECK(p.variables.at("average/count").number_at(0) == doctest::Approx(average));
    CHECK(p.variables.at("average/w").number_at(0) == p.variables.at("of parameters/w").number_at(0));
  }
  CHECK(!p.variables.contains("average/steps"));
  CHECK(!p.variables.contains("of parameters/count"));
}

TEST_CASE("programs that share parameters share the average") {
  std::unique_ptr<mt::module> const m(new mt::module(mt::trace<both>()));
  CHECK(m->variable_count == 2);
}

TEST_CASE("the copy is read before it changes, and does not follow itself") {
  program p = program::of<target>();
  p.fill("x", {1, 2});
  CHECK(trial::numbers_of(p.run().at("y")) == std::vector<double>{1, 2});
  CHECK(trial::numbers_of(p.run().at("y")) == std::vector<double>{0, -2});
  CHECK(p.variables.size() == 2);
}
