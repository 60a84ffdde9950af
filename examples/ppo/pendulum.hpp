// SPDX-License-Identifier: Apache-2.0
// A pendulum that must be swung up, with the numbers of Gymnasium's Pendulum-v1, and its model. Its actions are
// continuous, and its episodes have no terminal state: they are truncated.
#pragma once

#include <numbers>

#include "networks.hpp"
#include "policies.hpp"

namespace ppo {

struct pendulum {
  static constexpr struct variables : mt::dim<"variables", 2> {
  } variables{};  // angle from upright, its velocity
  static constexpr struct observation : mt::dim<"observation", 3> {
  } observation{};  // its cosine, its sine, the velocity
  static constexpr struct torques : mt::dim<"torques", 1> {
  } torques{};
  static constexpr int limit = 200;

  static constexpr auto reset(mt::scope auto s) {
    auto [angle, turn] = unstack(2 * uniform(s, s.real(), to(variables)) - 1, variables);
    return stack({std::numbers::pi * angle, turn}, variables);
  }
  static constexpr auto observe(auto state) {
    auto [angle, turn] = unstack(state, variables);
    return stack({cos(angle), sin(angle), turn}, observation);
  }

  static constexpr auto step(mt::scope auto s, auto state, auto action) {
    auto [angle, turn] = unstack(state, variables);
    auto torque = minimum(maximum(sum(action, torques), -2), 2);
    auto away = (angle + std::numbers::pi) % (2 * std::numbers::pi) - std::numbers::pi;  // from -π to π
    auto cost = away * away + 0.1 * turn * turn + 0.001 * torque * torque;
    auto next_turn = minimum(maximum(turn + 0.05 * (15 * sin(angle) + 3 * torque), -8), 8);
    auto never = full(s, 0, s.real()) > 0;
    return std::tuple(stack({angle + 0.05 * next_turn, next_turn}, variables), -cost, never);
  }
};

struct pendulum_model {
  static constexpr mt::layer actor = [](mt::scope auto s, auto observation) {
    auto h = network(s / "network", observation, pendulum::observation);
    auto mean = einsum(h, s.parameter("mean", hidden_2, pendulum::torques, mt::normal(0.01)), to(pendulum::torques));
    return gaussian_of<pendulum::torques>(mean, s.parameter("log_deviation", pendulum::torques, mt::zeros));
  };
  static constexpr mt::layer critic = [](mt::scope auto s, auto observation) {
    return value_of(s, observation, pendulum::observation);
  };
};

}  // namespace ppo
