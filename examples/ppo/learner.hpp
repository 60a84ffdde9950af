// SPDX-License-Identifier: Apache-2.0
// The interface of the programs. Each combination of a task and a dtype is compiled in its own file.
#pragma once

#include <memory>
#include <string>

#include <meshtensor/run/store.hpp>

#include "command_line.hpp"

namespace ppo {

namespace mt = meshtensor;

/// The results of an update: how many episodes ended, the sum of their scores, and the mean loss of the minibatches.
struct update_result {
  double episodes = 0, scores = 0, loss = 0;
};
/// The mean and the least score of the episodes of an evaluation.
struct played {
  double mean = 0, least = 0;
};

class learner {
 public:
  virtual ~learner() = default;

  /// Acts in all environments and learns from it, in one call.
  virtual update_result update(double learning_rate) = 0;
  virtual played play() = 0;

  /// The text that --explain asks for: the plan of an update, its instructions, or a page with all of it.
  virtual std::string explained(std::string const& what) const = 0;
  virtual void record(bool on) = 0;
  virtual std::string profile() const = 0;
};

std::unique_ptr<learner> cart_pole_f32(mt::store&, options const&);
std::unique_ptr<learner> cart_pole_f64(mt::store&, options const&);
std::unique_ptr<learner> pendulum_f32(mt::store&, options const&);
std::unique_ptr<learner> pendulum_f64(mt::store&, options const&);

/// Makes the learner for the options.
inline std::unique_ptr<learner> make_learner(mt::store& weights, options const& o) {
  bool const is_double = o.dtype == "f64";
  if (o.task == "pendulum") return is_double ? pendulum_f64(weights, o) : pendulum_f32(weights, o);
  return is_double ? cart_pole_f64(weights, o) : cart_pole_f32(weights, o);
}

}  // namespace ppo
