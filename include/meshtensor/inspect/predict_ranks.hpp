// SPDX-License-Identifier: Apache-2.0
// Predicts the time of steps with a clock for each rank, so that slow ranks, pauses and late messages count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/inspect/known_at_step.hpp"
#include "meshtensor/inspect/predict.hpp"

namespace meshtensor {

/// The time of one rank in all steps of a prediction. The seconds are those of computing, pauses and waits.
struct predicted_rank : predicted_step {
  double paused = 0;
  std::vector<double> ended;  // when each step ended
};
/// The time of steps of all ranks of a mesh, in seconds.
struct predicted_run {
  double seconds = 0;  // until the last rank has ended the last step
  std::vector<predicted_rank> ranks;

  /// When all ranks have ended a step.
  double ended(std::size_t step) const {
    double last = 0;
    for (predicted_rank const& r : ranks) last = std::max(last, r.ended[step]);
    return last;
  }
};

namespace detail {

/// Errors R28 of what a prediction with clocks for all ranks is given.
inline void require_model(network const& n, mesh_shape const& mesh, std::int64_t steps, stragglers const& slow) {
  auto const is_length = [](double x) { return x >= 0 && x < 1e18; };
  auto const text = [](double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", x);
    return std::string(digits);
  };
  for (name const& axis : n.shared)
    if (mesh.find(axis) < 0)
      throw error("R28", {"the network shares a link along the mesh axis '", axis, "', but the mesh has no such axis"});
  if (steps < 0) throw error("R28", {"a prediction of ", steps, " steps: give 0 steps or more"});
  if (!slow.speeds.empty() && static_cast<std::int64_t>(slow.speeds.size()) != mesh.size())
    throw error("R28", {"the mesh has ", mesh.size(), " ranks, but ", static_cast<std::int64_t>(slow.speeds.size()),
                        " speeds are given: give one for each rank, or none"});
  for (std::size_t r = 0; r < slow.speeds.size(); ++r)
    if (!(slow.speeds[r] > 0) || !is_length(1 / slow.speeds[r]))
      throw error("R28", {"the speed of rank ", static_cast<std::int64_t>(r), " is ", text(slow.speeds[r]),
                          ": give a factor above 0, for example 0.5 for half of the speed"});
  if (!(slow.probability >= 0 && slow.probability <= 1))
    throw error("R28", {"the probability of a pause is ", text(slow.probability), ": give a number from 0 to 1"});
  if (!is_length(slow.seconds) || !is_length(slow.steps))
    throw error("R28", {"a pause of ", text(slow.seconds), " seconds and ", text(slow.steps),
                        " steps: give lengths of 0 or more"});
}

}  // namespace detail

/// The time of a number of steps of an executable or a draft, with a clock for each rank of its mesh. Steps follow each
/// other without a barrier: a rank begins its next step when its own instructions have ended.
///
///     mt::draft<step_of_replicas> const step(ranks(32));
///     mt::network const tcp{{{"ranks", 50e-6, 1.25e9}}};
///     mt::predicted_run const run = mt::predict(step, tcp, {1e14, 2e12}, 1000, {.probability = 0.01, .steps = 1});
///
/// A collective ends for all its ranks together, when the last one has come to it and the time of its messages has
/// passed. A permute, such as a hop of gossip, is a message to each rank from those ranks whose rows it gets, and it
/// waits for these alone. The prediction knows the sources of a permute and the condition of a branch if they follow
/// from constants and numbers of the step. For example, `mt::hop` and `mt::local_sgd` are of this kind. With other
/// sources, a rank waits for all others, and of other conditions both branches count. All ranks have the parts of the
/// first rank, which are the largest.
///
/// errors  R28 an axis has no link; a rate, a speed or a pause is not a possible one
template <class Planned>
predicted_run predict(Planned const& step, network const& between, rates const& of_processor, std::int64_t steps,
                      stragglers const& slow = {}) {
  mesh_shape const& mesh = step.bound_mesh();
  detail::require_model(between, mesh, steps, slow);
  detail::timed_list const timed(step.graph(), step.planned(), mesh, of_processor);
  std::vector<double> slowness(static_cast<std::size_t>(mesh.size()), 1);
  for (std::size_t r = 0; r < slow.speeds.size(); ++r) slowness[r] = 1 / slow.speeds[r];
  detail::rank_clocks clocks(timed, mesh, between, slowness), alone(timed, mesh, between, {1});
  detail::known_at_step known(step.graph(), step.planned(), timed);
  predicted_run all;
  all.ranks.resize(slowness.size());
  for (std::int64_t k = 0; k < steps; ++k) {
    known.set(k, clocks), known.set_runs(alone);
    double const before = alone.computed()[0];
    alone.run_step();
    double const of_step = alone.computed()[0] - before;
    for (std::size_t r = 0; r < slowness.size(); ++r) {
      if (!slow.pauses(k, static_cast<int>(r))) continue;
      double const seconds = slow.seconds + slow.steps * of_step * slowness[r];
      clocks.pause(r, saturated_count(seconds * 1e9));
      all.ranks[r].paused += seconds;
    }
    clocks.run_step();
    for (std::size_t r = 0; r < slowness.size(); ++r)
      all.ranks[r].ended.push_back(static_cast<double>(clocks.now()[r]) * 1e-9);
  }
  for (std::size_t r = 0; r < slowness.size(); ++r) {
    static_cast<predicted_step&>(all.ranks[r]) = detail::told_by(clocks, r);
    all.seconds = std::max(all.seconds, all.ranks[r].seconds);
  }
  return all;
}

}  // namespace meshtensor
