// SPDX-License-Identifier: Apache-2.0
// Polls until a condition holds, within the limits of a world, and fails if a neighbour has ended meanwhile.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "meshtensor/comm/mpi.hpp"
#include "meshtensor/comm/mpi/pace.hpp"
#include "meshtensor/comm/wait_limits.hpp"

namespace meshtensor::comm {

inline waiting_time begun() {
  waiting_time t;
  t.restart();
  return t;
}

/// Polls `is_so` until it is true, within the limits of the world. `what` and `missing` name the wait and the missing
/// ranks in the error.
template <class Pace = pace, class IsSo>
void wait_until(mpi_world& world, std::string_view what, std::string const& missing, IsSo const& is_so) {
  wait_limits const& limits = world.limits();
  waiting_time waited = begun();
  std::chrono::milliseconds all_lived{};  // the time waited when all were last seen alive
  bool warned = false;
  for (Pace between; !is_so(); between.pause()) {
    auto const so_far = waited.look();
    auto const sentence = [&](std::chrono::milliseconds limit) {
      std::string text = std::string(mpi_watch::begins_with) + text_of(limit) + " for ";
      return text.append(what) + (missing.empty() ? "" : ", which " + missing + " did not");
    };
    int const gone = world.neighbours().gone();
    if (gone < 0) all_lived = so_far;
    if (gone >= 0 && so_far - all_lived >= std::chrono::milliseconds(200))  // its last messages may be under way
      throw error("R21", world.neighbours().sentence(gone), gone);
    if (limits.end.count() != 0 && so_far >= limits.end) throw error("R22", sentence(limits.end));
    if (warned || limits.warn.count() == 0 || so_far < limits.warn || !limits.say) continue;
    warned = true;
    limits.say("R22: rank " + std::to_string(world.rank()) + ": " + sentence(limits.warn) + consequence(limits));
  }
}

}  // namespace meshtensor::comm
