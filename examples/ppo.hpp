// SPDX-License-Identifier: Apache-2.0
// Proximal policy optimization, Schulman et al., arXiv:1707.06347, with its environments in the program. One call acts
// in all environments, estimates advantages, and learns from these steps in several epochs of minibatches.
//
// The environment and the model are arguments: ppo/cart_pole.hpp and ppo/pendulum.hpp have one of each.
#pragma once

#include <tuple>

#include <meshtensor/meshtensor.hpp>

namespace ppo {
namespace mt = meshtensor;
using mt::to;

// ---- dims ----

inline constexpr struct environments : mt::dim<"environments"> {} environments;
inline constexpr struct epochs : mt::dim<"epochs"> {} epochs;
inline constexpr struct minibatches : mt::dim<"minibatches"> {} minibatches;
inline constexpr struct samples : mt::dim<"samples"> {} samples;  // steps of one environment in a minibatch
inline constexpr struct moments : mt::dim<"moments", minibatches * samples> {} moments;  // its steps in a call

// ---- one environment, which knows of no other ----

// Acts for one step. An episode begins anew if its length is 0, so that zeros may be the first states. Returns the
// episode after the step, then what is learnt from: the observation, the one after the step in the same episode, the
// action and its log-probability, the reward, whether the state is terminal, whether the episode ends, and its score.
template <class Environment, class Model>
constexpr auto act(mt::scope auto s, mt::scope auto model, auto state, auto length, auto score) {
  auto now = select(length == 0, Environment::reset(s / "reset"), state);
  auto observation = Environment::observe(now);
  auto policy = Model::actor(model / "actor", observation);
  auto action = policy.sample(s / "action");
  auto [next, reward, is_terminal] = Environment::step(s / "step", now, action);
  auto length_now = length + 1;
  auto score_now = score + reward;
  auto ends = is_terminal || length_now == Environment::limit;
  return std::tuple(std::tuple(next, select(ends, 0, length_now), select(ends, 0, score_now)),
                    std::tuple(observation, Environment::observe(next), action, policy.log_probability(action), reward,
                               is_terminal, ends, score_now));
}

// Generalized advantage estimation, Schulman et al., arXiv:1506.02438, equation 16. A terminal state has no value. A
// truncated episode has the value of the state after its last step, and no later step of it counts.
constexpr auto advantages(mt::scope auto s, auto reward, auto value, auto next_value, auto is_terminal, auto ends) {
  auto gamma = s.number("gamma", 0.99), lambda = s.number("lambda", 0.95);
  auto error = reward + gamma * select(is_terminal, 0, next_value) - value;
  auto decay = select(ends, 0, full(s, gamma * lambda, s.real()));
  auto [first, all] = mt::scan(s / "backwards", moments, full(s, 0, s.real()),
                               std::tuple(reverse(error, moments), reverse(decay, moments)),
                               [](auto, auto later, auto error_now, auto decay_now) {
                                 auto now = error_now + decay_now * later;
                                 return std::tuple(now, now);
                               });
  return reverse(all, moments);
}

// Everything that one environment does in a call: the episode at its end, the samples to learn from, and the scores of
// the episodes that ended.
template <class Environment, class Model>
constexpr auto rollout(mt::scope auto s, mt::scope auto model, auto moment, auto... episode) {
  auto [last, seen] = mt::scan(s / "act", moments, std::tuple(episode...), moment,
                               [&](mt::scope auto r, auto state, auto length, auto score, auto) {
                                 return act<Environment, Model>(r, model, state, length, score);
                               });
  auto [observation, next, action, log_probability, reward, is_terminal, ends, score] = seen;
  auto [value, next_value] =
      mt::map(s / "value", moments, std::tuple(observation, next), [&](mt::scope auto, auto of_this, auto of_next) {
        return std::tuple(Model::critic(model / "critic", of_this), Model::critic(model / "critic", of_next));
      });
  auto advantage = advantages(s / "advantages", reward, value, next_value, is_terminal, ends);
  return std::tuple_cat(last,
                        std::tuple(stop_gradient(observation), stop_gradient(action), stop_gradient(log_probability),
                                   stop_gradient(advantage), stop_gradient(advantage + value), ends, score));
}

// ---- one sample ----

// The clipped surrogate objective, the squared error of the value, and the entropy of the policy: section 5.
template <class Model>
constexpr auto objectives(mt::scope auto s, mt::scope auto model, auto observation, auto action, auto log_probability,
                          auto advantage, auto target) {
  auto clip = s.number("clip", 0.2);
  auto policy = Model::actor(model / "actor", observation);
  auto ratio = exp(policy.log_probability(action) - log_probability);
  auto clipped = minimum(maximum(ratio, 1 - clip), 1 + clip);
  auto error = Model::critic(model / "critic", observation) - target;
  return std::tuple(minimum(ratio * advantage, clipped * advantage), error * error, policy.entropy());
}

// ---- the programs, which share the parameters under "model" ----

template <class Environment, class Model>
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto model = s / "model";
    iota(s, minibatches, mt::i32), iota(s, samples, mt::i32);
    auto moment = iota(s, moments, mt::i32);
    auto epoch = iota(s, epochs, mt::i32);

    auto state = s.state("state", s.real(), environments, Environment::variables);
    auto length = s.state("length", mt::i32, environments);
    auto score = s.state("score", s.real(), environments);
    auto [next_state, next_length, next_score, observation, action, log_probability, advantage, target, ends, scores] =
        mt::map(s / "rollout", environments, std::tuple(state, length, score), [&](mt::scope auto m, auto... episode) {
          return rollout<Environment, Model>(m, model, moment, episode...);
        });
    s.update(state, next_state), s.update(length, next_length), s.update(score, next_score);
    auto ended = mt::cast<s.compute>(ends);
    s.output("episodes", sum(ended));
    s.output("scores", sum(ended * scores));

    // Each environment shuffles its own steps, so that no sample leaves its rank.
    auto learn = [&, seen = observation, done = action, likely = log_probability, better = advantage, wanted = target](
                     mt::scope auto b, auto carry, auto chosen) {
      auto take = [&](auto x) { return gather(x, chosen, moments); };
      auto centred = take(better) - mean(take(better));
      auto normalized = centred / (sqrt(mean(centred * centred)) + 1e-8);
      auto [gain, error, entropy] = mt::map(
          b / "samples", samples, std::tuple(take(seen), take(done), take(likely), normalized, take(wanted)),
          [&](mt::scope auto, auto... sample_of_all) {
            return mt::map(b / "environments", environments, std::tuple(sample_of_all...),
                           [&](mt::scope auto m, auto... sample) { return objectives<Model>(m, model, sample...); });
          });
      auto loss =
          -mean(gain) + b.number("value_weight", 0.5) * mean(error) - b.number("entropy_weight", 0) * mean(entropy);
      mt::adam{
          .learning_rate = b.number("learning_rate", 1e-3), .epsilon = 1e-5, .clip_norm = b.number("clip_norm", 0.5)}
          .minimize(s / "optimizer", loss);
      return std::tuple(carry, loss);
    };
    auto [unused, losses] =
        mt::scan(s / "epochs", epochs, full(s, 0, s.real()), epoch, [&](mt::scope auto e, auto carry, auto) {
          auto order = argsort(uniform(e / "shuffle", s.real(), to(environments, moments)), moments);
          return mt::scan(e / "minibatches", minibatches, carry, split(order, moments, to(minibatches, samples)),
                          learn);
        });
    s.output("loss", mean(losses));
  }
};

// Plays an episode in every environment by the actions that the policy likes best. Episodes end at different times.
template <class Environment, class Model>
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto model = s / "model";
    auto scores = mt::map(s / "episodes", environments, [&](mt::scope auto m) {
      auto goes_on = [](auto, auto, auto, auto is_over) { return !is_over; };
      auto step = [&](mt::scope auto r, auto state, auto score, auto) {
        auto action = Model::actor(model / "actor", Environment::observe(state)).best();
        auto [next, reward, is_terminal] = Environment::step(r / "step", state, action);
        return std::tuple(next, score + reward, is_terminal);
      };
      auto zero = full(m, 0, m.real());
      auto [length, last, total, is_over] = mt::while_loop(m / "steps", mt::at_most(Environment::limit), goes_on, step,
                                                           Environment::reset(m / "reset"), zero, zero > 0);
      return total;
    });
    s.output("score", mean(scores));
    s.output("least", min(scores));
  }
};

// ---- mesh and layout, on which the programs above do not depend ----

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};

}  // namespace ppo
