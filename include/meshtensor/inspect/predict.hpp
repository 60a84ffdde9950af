// SPDX-License-Identifier: Apache-2.0
// Predicts the time of a step from its list of instructions, a network and the rates of a rank. It runs no kernel and
// allocates none of the plan's memory.
#pragma once

#include <vector>

#include "meshtensor/inspect/rank_clocks.hpp"

namespace meshtensor {

/// The time of one rank in seconds, of one step or of several.
struct predicted_step {
  double seconds = 0;
  double computed = 0;      // of kernels and copies
  double communicated = 0;  // of collectives, hidden or not
  double exposed = 0;       // in which the rank only waits for collectives
};

namespace detail {

/// What the clock of one rank tells.
inline predicted_step told_by(rank_clocks& clocks, std::size_t rank) {
  double const second = 1e-9;
  return {static_cast<double>(clocks.now()[rank]) * second, clocks.computed()[rank],
          static_cast<double>(clocks.taken()[rank]) * second, static_cast<double>(clocks.waited()[rank]) * second};
}

}  // namespace detail

/// The time of a step of an executable or a draft, on a mesh that need not be here. It follows from the list of
/// instructions, a link for each mesh axis, and the rates that one rank reaches. The clock is that of the first rank,
/// and no other rank is ever late.
///
///     mt::draft<step_of_large> const large(data(16), model(32), batch(512));
///     double const seconds = mt::predict(large, {{"data", 5e-6, 25e9}, {"model", 5e-6, 25e9}}, {1e14, 2e12}).seconds;
///
/// errors  R28 an axis has no link, or a rate is 0
template <class Planned>
predicted_step predict(Planned const& step, std::vector<link> links, rates const& of_processor) {
  detail::timed_list const timed(step.graph(), step.planned(), step.bound_mesh(), of_processor);
  detail::rank_clocks clocks(timed, step.bound_mesh(), {std::move(links)}, {1});
  clocks.run_step();
  return detail::told_by(clocks, 0);
}

}  // namespace meshtensor
