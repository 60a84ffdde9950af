// SPDX-License-Identifier: Apache-2.0
// Computes when collectives end, by a model of the network in which those over one mesh axis run one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/job/planned_collective.hpp"
#include "meshtensor/mesh/link.hpp"

namespace meshtensor {

/// Seconds of a collective over `count` ranks: the time of its messages one after the other, plus the time of the bytes
/// that a rank receives.
constexpr double seconds_of(link const& l, collective_call const& call, int count) {
  if (count < 2) return 0;
  bool const reduces = call.kind == collective::all_reduce;
  return messages_in_turn(reduces, reduces && goes_in_steps(call), count) * l.latency +
         static_cast<double>(received_bytes_of(call, count, 0)) / l.bytes_per_second;
}

/// The clock of a model of the network, with times in nanoseconds.
class link_clock {
 public:
  explicit link_clock(std::vector<link> links) : links_(std::move(links)), busy_(links_.size()) {}

  /// Registers a collective and returns its number.
  ///
  /// errors  R28 an axis has no link, or its link carries no bytes
  int prepare(planned_collective const& c) {
    collective_time f;
    for (name const& axis : c.axes) {
      std::size_t i = 0;
      while (i < links_.size() && !(links_[i].axis == axis)) ++i;
      if (i == links_.size())
        throw error("R28", {"the mesh axis '", axis, "' has no link: a model of a network needs one for each axis"});
      if (!(links_[i].bytes_per_second > 0) || links_[i].latency < 0)
        throw error("R28",
                    {"the link of the mesh axis '", axis, "' carries no bytes: give it a rate, in bytes a second"});
      f.over.push_back(i);
      f.takes = std::max(f.takes, saturated_count(seconds_of(links_[i], c.call, c.with.count) * 1e9));
    }
    all_.push_back(std::move(f));
    return static_cast<int>(all_.size()) - 1;
  }
  /// Starts a collective at a time, and returns the time at which it will have ended.
  std::int64_t start(int number, std::int64_t now) {
    collective_time& f = all_[static_cast<std::size_t>(number)];
    for (std::size_t i : f.over) now = std::max(now, busy_[i]);
    f.done = saturated_sum(now, f.takes);
    for (std::size_t i : f.over) busy_[i] = f.done;
    taken_ = saturated_sum(taken_, f.takes);
    return f.done;
  }
  /// The time at which the last run of a collective ends.
  std::int64_t done(int number) const { return all_[static_cast<std::size_t>(number)].done; }
  /// Adds the time of collectives that keep no link busy for later ones.
  void take(std::int64_t time) { taken_ = saturated_sum(taken_, time); }
  /// The time of all collectives so far.
  std::int64_t taken() const { return taken_; }

 private:
  struct collective_time {
    std::vector<std::size_t> over;  // indices of links
    std::int64_t takes = 0, done = 0;
  };
  std::vector<link> links_;
  std::vector<std::int64_t> busy_;    // for each link, the time until which it is busy
  std::vector<collective_time> all_;  // by number
  std::int64_t taken_ = 0;
};

}  // namespace meshtensor
