// SPDX-License-Identifier: Apache-2.0
// Two policies, which are distributions of actions: categorical for discrete actions, Gaussian for continuous ones.
#pragma once

#include <meshtensor/meshtensor.hpp>

namespace ppo {

namespace mt = meshtensor;
using mt::to;

inline constexpr double half_log_of_two_pi = 0.918938533204672742;  // std::log is no constant for all compilers

// One of as many actions as `actions` has elements, by the log-probabilities of all. An action is an i64 without dims.
template <auto actions, class LogProbabilities>
struct categorical {
  LogProbabilities all;

  // The Gumbel-max trick: the greatest sum of log-probability and noise is at an action with that probability.
  constexpr auto sample(mt::scope auto s) const {
    return argmax(all - log(-log(maximum(uniform(s, s.real(), to(actions)), 1e-30))), actions);
  }
  constexpr auto best() const { return argmax(all, actions); }
  constexpr auto log_probability(auto action) const { return gather(all, action, actions); }
  constexpr auto entropy() const { return -sum(exp(all) * all, actions); }
};
template <auto actions>
constexpr auto categorical_of(auto logits) {
  auto all = log_softmax(logits, actions);
  return categorical<actions, decltype(all)>{all};
}

// Independent normal numbers along `actions`, by their means and the logarithms of their standard deviations.
template <auto actions, class Mean, class LogDeviation>
struct gaussian {
  Mean mean;
  LogDeviation log_deviation;

  constexpr auto sample(mt::scope auto s) const { return mean + exp(log_deviation) * normal(s, s.real(), to(actions)); }
  constexpr auto best() const { return mean; }
  constexpr auto log_probability(auto action) const {
    auto away = (action - mean) / exp(log_deviation);
    return -sum(0.5 * away * away + log_deviation + half_log_of_two_pi, actions);
  }
  constexpr auto entropy() const { return sum(log_deviation + (0.5 + half_log_of_two_pi), actions); }
};
template <auto actions>
constexpr auto gaussian_of(auto mean, auto log_deviation) {
  return gaussian<actions, decltype(mean), decltype(log_deviation)>{mean, log_deviation};
}

}  // namespace ppo
