// SPDX-License-Identifier: Apache-2.0
// Policies on the host, and two of them in one training: an oracle for `by_step` with any pair of policies.
#pragma once

#include <memory>

#include "unit/regime/beside_host.hpp"

namespace policies_on_host {

using namespace beside_host;

/// What a policy reads and writes: the values of one parameter of all replicas, and states by name.
struct parameter {
  values const& before;
  values after;
  std::map<std::string, values>& states;
  std::string const& path;

  values& weights() const { return states["regime/push_sum_weight"]; }
  values& state(std::string const& name) const { return states[name + " of " + path]; }
  /// The mean of all numerators by the mean of all weights. Without push-sum all weights are 1.
  values mean_of(values const& x) const {
    values const w = spread(weights(), x);
    return combined(mean(combined(x, w, times)), mean(w), over);
  }
};

/// A policy. `turn` is the number of its turns before.
struct policy {
  virtual ~policy() = default;
  /// Sees each step of the training, once it has begun, also those that are the turn of another policy.
  virtual void see(parameter const&, int /*turn*/) const {}
  virtual void act(parameter& p, int turn) const = 0;
  virtual bool has_weight() const { return false; }
};
using shared = std::shared_ptr<policy const>;

struct nothing_at_all : policy {
  void act(parameter&, int) const override {}
};
struct means : policy {
  int period;
  explicit means(int steps) : period(steps) {}
  void act(parameter& p, int turn) const override {
    if ((turn + 1) % period == 0) p.after = p.mean_of(p.after);
  }
};
/// Sgd with the mean of gradients. The step of the program must be plain.
struct gradients : policy {
  void act(parameter& p, int) const override {
    p.after = combined(p.before, mean(combined(p.after, p.before, minus)), plus);
  }
};
/// Policies with an outer step. The start of a period is what the last outer step has given.
struct from_start : policy {
  int period;
  explicit from_start(int steps) : period(steps) {}
  void see(parameter const& p, int turn) const override {
    values& start = p.state("start");
    bool& has_begun = begun[p.path];
    if (!has_begun) start = turn == 0 && is_common() ? p.mean_of(p.before) : p.before;
    has_begun = true;
  }
  void act(parameter& p, int turn) const override {
    int const place = turn + 1 + shift(p.path);
    if (place % period == 0) p.state("start") = p.after = stepped(p, place / period - 1);
  }
  virtual bool is_common() const { return true; }
  /// The steps by which the period of a parameter ends earlier.
  virtual int shift(std::string const& /*path*/) const { return 0; }
  virtual values stepped(parameter const& p, int number_of_period) const = 0;
  mutable std::map<std::string, bool> begun{};
};
struct outer_momentum : from_start {
  double rate, decay;
  bool nesterov;
  outer_momentum(int steps, double r, double d, bool looks_ahead)
      : from_start(steps), rate(r), decay(d), nesterov(looks_ahead) {}
  values stepped(parameter const& p, int) const override {
    values &start = p.state("start"), &velocity = p.state("velocity");
    if (velocity.empty()) velocity = values(start.size(), numbers(start[0].size()));
    auto const kept = [this](double v, double g) { return v * decay + g; };
    values const gradient = combined(start, p.mean_of(p.after), minus);
    velocity = combined(velocity, gradient, kept);
    return combined(start, nesterov ? combined(velocity, gradient, kept) : velocity,
                    [this](double s, double u) { return s - rate * u; });
  }
};
/// Streaming DiLoCo with fragments of every second parameter, in the order in which the program reads them.
struct outer_momentum_of_fragments : outer_momentum {
  std::vector<std::string> order{};
  explicit outer_momentum_of_fragments(int steps) : outer_momentum(steps, 0.7, 0.9, true) {
    program const listed = program::of<in_f64<train_step>>();
    for (int v = 0; v < listed.graph().variable_count; ++v)
      if (mt::variable const& one = listed.graph().variables[v]; one.trainable) {
        mt::diagnostic path{};
        mt::add_path(path, listed.graph(), one.path);
        order.emplace_back(path.view());
      }
    REQUIRE(order.size() == 3);
  }
  int shift(std::string const& path) const override { return path == order[1] ? period - period / 2 : 0; }
};
template <mt::topology T>
struct in_pairs : from_start {
  explicit in_pairs(int steps) : from_start(steps) {}
  bool is_common() const override { return false; }
  values stepped(parameter const& p, int number_of_period) const override {
    values &start = p.state("start"), &velocity = p.state("velocity of pairs");
    if (velocity.empty()) velocity = values(start.size(), numbers(start[0].size()));
    values const middle = mixed<T>(start, number_of_period),
                 way = combined(middle, mixed<T>(p.after, number_of_period), minus);
    velocity = combined(velocity, way, [](double v, double w) { return 0.5 * v - 0.7 * w; });
    velocity = combined(velocity, combined(start, middle, minus), minus);
    return combined(start, velocity, plus);
  }
};
template <mt::topology T>
struct gossip : policy {
  void act(parameter& p, int turn) const override {
    p.after = combined(mixed<T>(p.before, turn), combined(p.after, p.before, minus), plus);
  }
};
template <mt::topology T, bool Overlapped>
struct pushed : policy {
  bool has_weight() const override { return true; }
  void act(parameter& p, int turn) const override {
    p.after = push<T, Overlapped>(p.before, p.after, p.states, p.path, turn);
  }
};

/// `first` in every `every`-th step, and `then` in the others.
struct in_turn : policy {
  int every;
  shared first, then;
  in_turn(int steps, shared a, shared b) : every(steps), first(std::move(a)), then(std::move(b)) {}
  bool has_weight() const override { return first->has_weight() || then->has_weight(); }
  void see(parameter const& p, int turn) const override {
    first->see(p, turn / every), then->see(p, turn - turn / every);
  }
  void act(parameter& p, int turn) const override {
    if ((turn + 1) % every == 0) first->act(p, turn / every);
    else then->act(p, turn - turn / every);
  }
};
/// `first` in the first `count` steps, and `then` in the others.
struct one_after_the_other : policy {
  int count;
  shared first, then;
  one_after_the_other(int steps, shared a, shared b) : count(steps), first(std::move(a)), then(std::move(b)) {}
  bool has_weight() const override { return first->has_weight() || then->has_weight(); }
  void see(parameter const& p, int turn) const override {
    if (turn < count) first->see(p, turn);
    else then->see(p, turn - count);
  }
  void act(parameter& p, int turn) const override {
    if (turn >= count) return then->act(p, turn - count);
    first->act(p, turn);
    if (turn + 1 < count || !first->has_weight() || then->has_weight()) return;
    p.after = p.mean_of(p.after);
    p.weights() = mean(p.weights());
  }
};

/// Compares a policy with its form on the host.
template <class Policy, class Step = train_step>
void check(int steps, shared const& on_host) {
  std::vector<std::string> its_states;
  if (on_host->has_weight()) its_states.emplace_back("regime/push_sum_weight");
  auto const act = [&](values const& before, values const& after, std::map<std::string, values>& states,
                       std::string const& path, int step) {
    parameter p{before, after, states, path};
    on_host->see(p, step);
    on_host->act(p, step);
    return p.after;
  };
  compare<Policy, Step>(steps, act, its_states);
}

}  // namespace policies_on_host
