// SPDX-License-Identifier: Apache-2.0
// The environments of the example ppo step as those of Gymnasium, whose formulas are written here again, one by one.
// Advantages are those of plain loops, also where episodes end or are truncated.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "../../../examples/ppo.hpp"
#include "../../../examples/ppo/cart_pole.hpp"
#include "../../../examples/ppo/pendulum.hpp"

namespace mt = meshtensor;
using namespace ppo;

namespace {

using numbers = std::vector<double>;
constexpr std::int64_t count = 200;

numbers drawn(double bound, std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> between(-bound, bound);
  numbers all(static_cast<std::size_t>(n));
  for (double& x : all) x = between(generator);
  return all;
}
numbers of(auto const& result) {
  auto const local = result.local();
  return {local.data(), local.data() + local.size()};
}

struct step_carts {
  constexpr void operator()(mt::scope auto s) const {
    auto state = s.input("state", s.real(), environments, cart_pole::variables);
    auto action = s.input("action", mt::i64, environments);
    auto [next, reward, falls] = mt::map(s / "step", environments, std::tuple(state, action),
                                         [](mt::scope auto m, auto now, auto a) { return cart_pole::step(m, now, a); });
    s.output("next", next), s.output("reward", reward), s.output("falls", mt::cast<mt::f64>(falls));
  }
};
struct step_pendulums {
  constexpr void operator()(mt::scope auto s) const {
    auto state = s.input("state", s.real(), environments, pendulum::variables);
    auto action = s.input("action", s.real(), environments, pendulum::torques);
    auto [next, reward, ends] = mt::map(s / "step", environments, std::tuple(state, action),
                                        [](mt::scope auto m, auto now, auto a) { return pendulum::step(m, now, a); });
    s.output("next", next), s.output("reward", reward), s.output("ends", mt::cast<mt::f64>(ends));
  }
};
struct estimate {
  constexpr void operator()(mt::scope auto s) const {
    iota(s, minibatches, mt::i32), iota(s, samples, mt::i32);
    auto reward = s.input("reward", s.real(), moments), value = s.input("value", s.real(), moments);
    auto next_value = s.input("next_value", s.real(), moments);
    auto is_terminal = s.input("terminal", s.real(), moments) > 0, ends = s.input("ends", s.real(), moments) > 0;
    s.output("advantage", advantages(s, reward, value, next_value, is_terminal, ends));
  }
};
struct replicated : mt::layout<> {};
template <class Program>
using in_f64 = mt::executable<mt::precision<Program, mt::f64>, ppo::mesh, replicated>;

}  // namespace

TEST_CASE("a cart with a pole steps as CartPole-v1 does") {
  numbers state = drawn(3, 4 * count, 1);
  std::vector<std::int64_t> action(count);
  for (std::size_t i = 0; i < count; ++i) {
    action[i] = i % 3 == 0;
    state[4 * i + 2] *= 0.08;  // about half of the poles fall
  }
  std::fill(state.begin(), state.begin() + 4, 0.0), action[0] = 1;
  auto const job = mt::job::in_lockstep();
  mt::store store(job, 1);
  in_f64<step_carts> step(store, data(1), model(1), environments(count));
  auto const r = step(mt::feed<"state">(state), mt::feed<"action">(action));
  numbers const next = of(r.get<"next">()), reward = of(r.get<"reward">()), falls = of(r.get<"falls">());
  CHECK(next[1] == doctest::Approx(0.195121951219512));  // the published first step from rest
  CHECK(next[3] == doctest::Approx(-0.292682926829268));
  double fallen = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double const x = state[4 * i], x_dot = state[4 * i + 1], theta = state[4 * i + 2], theta_dot = state[4 * i + 3];
    double const force = action[i] == 1 ? 10.0 : -10.0, costheta = std::cos(theta), sintheta = std::sin(theta);
    double const gravity = 9.8, masspole = 0.1, total_mass = masspole + 1.0, length = 0.5, tau = 0.02;
    double const polemass_length = masspole * length;
    double const temp = (force + polemass_length * theta_dot * theta_dot * sintheta) / total_mass;
    double const thetaacc =
        (gravity * sintheta - costheta * temp) / (length * (4.0 / 3.0 - masspole * costheta * costheta / total_mass));
    double const xacc = temp - polemass_length * thetaacc * costheta / total_mass;
    numbers const expected = {x + tau * x_dot, x_dot + tau * xacc, theta + tau * theta_dot, theta_dot + tau * thetaacc};
    for (std::size_t k = 0; k < 4; ++k) CHECK(next[4 * i + k] == doctest::Approx(expected[k]).epsilon(1e-12));
    double const threshold = 12 * 2 * std::numbers::pi / 360;
    bool const terminated =
        expected[0] < -2.4 || expected[0] > 2.4 || expected[2] < -threshold || expected[2] > threshold;
    CHECK(falls[i] == (terminated ? 1 : 0));
    CHECK(reward[i] == 1);
    fallen += falls[i];
  }
  CHECK((fallen > 0.2 * count && fallen < 0.8 * count));
}

TEST_CASE("a pendulum steps as Pendulum-v1 does") {
  numbers const state = drawn(9, 2 * count, 2), action = drawn(4, count, 3);  // beyond all bounds, too
  auto const job = mt::job::in_lockstep();
  mt::store store(job, 1);
  in_f64<step_pendulums> step(store, data(1), model(1), environments(count));
  auto const r = step(mt::feed<"state">(state), mt::feed<"action">(action));
  numbers const next = of(r.get<"next">()), reward = of(r.get<"reward">()), ends = of(r.get<"ends">());
  for (std::size_t i = 0; i < count; ++i) {
    double const th = state[2 * i], thdot = state[2 * i + 1], g = 10, m = 1, l = 1, dt = 0.05;
    double const u = std::clamp(action[i], -2.0, 2.0);
    double const wrapped = std::fmod(th + std::numbers::pi, 2 * std::numbers::pi);
    double const normalized = (wrapped < 0 ? wrapped + 2 * std::numbers::pi : wrapped) - std::numbers::pi;
    double const costs = normalized * normalized + 0.1 * thdot * thdot + 0.001 * u * u;
    double const newthdot =
        std::clamp(thdot + (3 * g / (2 * l) * std::sin(th) + 3.0 / (m * l * l) * u) * dt, -8.0, 8.0);
    CHECK(next[2 * i] == doctest::Approx(th + newthdot * dt).epsilon(1e-12));
    CHECK(next[2 * i + 1] == doctest::Approx(newthdot).epsilon(1e-12));
    CHECK(reward[i] == doctest::Approx(-costs).epsilon(1e-12));
    CHECK(ends[i] == 0);
  }
}

TEST_CASE("advantages count no value after a terminal state, and no later step after a truncation") {
  constexpr std::size_t n = 40;
  numbers const reward = drawn(1, n, 4), value = drawn(5, n, 5), next_value = drawn(5, n, 6);
  numbers terminal(n, 0.0), ends(n, 0.0);
  for (std::size_t t : {3, 17, 39}) terminal[t] = ends[t] = 1;
  for (std::size_t t : {8, 9, 30}) ends[t] = 1;
  auto const job = mt::job::in_lockstep();
  mt::store store(job, 1);
  in_f64<estimate> step(store, data(1), model(1), minibatches(4), samples(10));
  auto const r =
      step(mt::feed<"reward">(reward), mt::feed<"value">(value), mt::feed<"next_value">(next_value),
           mt::feed<"terminal">(terminal), mt::feed<"ends">(ends), mt::set<"gamma">(0.9), mt::set<"lambda">(0.8));
  numbers const found = of(r.get<"advantage">());
  for (std::size_t t = 0; t < n; ++t) {
    double expected = 0, weight = 1;
    for (std::size_t k = t; k < n; ++k) {
      expected += weight * (reward[k] + (terminal[k] == 1 ? 0 : 0.9 * next_value[k]) - value[k]);
      if (ends[k] == 1) break;
      weight *= 0.9 * 0.8;
    }
    CHECK(found[t] == doctest::Approx(expected).epsilon(1e-12));
  }
}
