// SPDX-License-Identifier: Apache-2.0
// The networks of both models: two hidden layers with tanh, written for one observation.
#pragma once

#include <meshtensor/meshtensor.hpp>

namespace ppo {
namespace mt = meshtensor;

inline constexpr struct hidden : mt::dim<"hidden", 64> {} hidden;
inline constexpr struct hidden_2 : mt::dim<"hidden_2", 64> {} hidden_2;

inline constexpr mt::layer network = [](mt::scope auto s, auto observation, auto observed) {
  auto h = tanh(mt::nn::linear(s / "first", observation, observed, hidden));
  return tanh(mt::nn::linear(s / "second", h, hidden, hidden_2));
};
inline constexpr mt::layer value_of = [](mt::scope auto s, auto observation, auto observed) {
  auto h = network(s / "network", observation, observed);
  return einsum(h, s.parameter("value", hidden_2, mt::normal(0.125)), mt::to()) + s.parameter("bias", mt::zeros);
};

}  // namespace ppo
