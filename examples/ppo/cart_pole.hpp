// SPDX-License-Identifier: Apache-2.0
// Cart-pole, the task of Barto, Sutton and Anderson (1983) with the numbers of Gymnasium's CartPole-v1, and its model.
#pragma once

#include <numbers>

#include "networks.hpp"
#include "policies.hpp"

namespace ppo {

struct cart_pole {
  // The position of the cart, its velocity, the angle of the pole and its velocity.
  static constexpr struct variables : mt::dim<"variables", 4> {
  } variables{};
  static constexpr int limit = 500;  // steps of an episode

  static constexpr auto reset(mt::scope auto s) { return 0.1 * uniform(s, s.real(), to(variables)) - 0.05; }
  static constexpr auto observe(auto state) { return state; }

  // Returns the next state, the reward, and whether the next state is terminal. Action 1 pushes the cart to the right.
  static constexpr auto step(mt::scope auto s, auto state, auto action) {
    auto [x, speed, angle, turn] = unstack(state, variables);
    auto force = 20 * mt::cast<s.compute>(action) - 10;
    auto push = (force + 0.05 * turn * turn * sin(angle)) / 1.1;
    auto turn_gain = (9.8 * sin(angle) - cos(angle) * push) / (0.5 * (4. / 3 - 0.1 * cos(angle) * cos(angle) / 1.1));
    auto speed_gain = push - 0.05 * turn_gain * cos(angle) / 1.1;
    auto next_x = x + 0.02 * speed, next_angle = angle + 0.02 * turn;
    auto next = stack({next_x, speed + 0.02 * speed_gain, next_angle, turn + 0.02 * turn_gain}, variables);
    auto falls = abs(next_x) > 2.4 || abs(next_angle) > 12 * std::numbers::pi / 180;
    return std::tuple(next, full(s, 1, s.real()), falls);
  }
};

struct cart_pole_model {
  static constexpr struct actions : mt::dim<"actions", 2> {
  } actions{};

  static constexpr mt::layer actor = [](mt::scope auto s, auto observation) {
    auto h = network(s / "network", observation, cart_pole::variables);
    return categorical_of<actions>(einsum(h, s.parameter("logits", hidden_2, actions, mt::normal(0.01)), to(actions)));
  };
  static constexpr mt::layer critic = [](mt::scope auto s, auto observation) {
    return value_of(s, observation, cart_pole::variables);
  };
};

}  // namespace ppo
