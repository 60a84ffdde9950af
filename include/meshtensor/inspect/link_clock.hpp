// SPDX-License-Identifier: Apache-2.0
// Computes when collectives end, by a model of the network in which those over one mesh axis run one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/job/planned_collective.hpp"
#include "meshtensor/mesh/link.hpp"

namespace meshtensor {

namespace detail {

/// The bytes that the first member of a collective receives. Rows that move by sources count as if all came from other
/// members, because only a step knows the sources.
constexpr std::int64_t received_at_most(collective_call const& call, int count) {
  bool const is_permute = call.kind == collective::move && call.moves->by_sources;
  return is_permute ? bytes_of(call) : received_bytes_of(call, count, 0);
}
/// The index of the link of a mesh axis.
///
/// errors  R28 the axis has no link, or its link carries no bytes or has no possible latency
inline std::size_t index_of_link(std::vector<link> const& links, name const& axis) {
  std::size_t i = 0;
  while (i < links.size() && !(links[i].axis == axis)) ++i;
  if (i == links.size())
    throw error("R28", {"the mesh axis '", axis, "' has no link: a model of a network needs one for each axis"});
  if (!(links[i].bytes_per_second > 0))
    throw error("R28", {"the link of the mesh axis '", axis, "' carries no bytes: give it a rate, in bytes a second"});
  if (double const latency = links[i].latency; !(latency >= 0 && latency < 1e18)) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", latency);
    throw error("R28", {"the link of the mesh axis '", axis, "' has a latency of ", std::string(digits),
                        " seconds: give it 0 or more"});
  }
  return i;
}

}  // namespace detail

/// Seconds of a collective over `count` ranks: the time of its messages one after the other, plus the time of the bytes
/// that a rank receives. A permute is one message from each source, at the same time.
constexpr double seconds_of(link const& l, collective_call const& call, int count) {
  if (count < 2) return 0;
  bool const reduces = call.kind == collective::all_reduce;
  bool const is_permute = call.kind == collective::move && call.moves->by_sources;
  int const in_turn = is_permute ? 1 : messages_in_turn(reduces, reduces && goes_in_steps(call), count);
  return in_turn * l.latency + static_cast<double>(detail::received_at_most(call, count)) / l.bytes_per_second;
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
      std::size_t const i = detail::index_of_link(links_, axis);
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
