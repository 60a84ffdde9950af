// SPDX-License-Identifier: Apache-2.0
// Computes when messages between ranks arrive, by a model in which each rank has a link for each mesh axis.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "meshtensor/inspect/link_clock.hpp"
#include "meshtensor/inspect/link_direction.hpp"
#include "meshtensor/inspect/network.hpp"

namespace meshtensor::detail {

/// A message from a member of a group to another one.
struct sent_rows {
  int from, to;
  std::int64_t rows;
};

/// The collectives of a step on their way between ranks, with times in nanoseconds.
class rank_links {
 public:
  /// `ranks` is the number of ranks with a clock: all of a mesh, or the first one alone.
  rank_links(network const& n, mesh_shape const& mesh, int ranks) : net_(n), mesh_(mesh), ranks_(ranks) {
    out_.resize(n.links.size() * size()), in_.resize(n.links.size() * size());
    taken_.resize(size());
    for (link const& l : n.links)
      is_shared_.push_back(std::ranges::any_of(n.shared, [&](name const& axis) { return axis == l.axis; }));
  }

  /// Registers a collective as the first rank has it. errors R28
  void prepare(planned_collective const& c) {
    route f;
    f.done.resize(size());
    unsigned axes = 0;
    for (name const& axis : c.axes) {
      std::size_t const i = index_of_link(net_.links, axis);
      f.over.push_back(i);
      axes |= 1u << mesh_.find(axis);
      double const of_byte = 1e9 / net_.links[i].bytes_per_second;
      std::int64_t const takes = saturated_count(seconds_of(net_.links[i], c.call, c.with.count) * 1e9);
      double const to_others =  // on a link that carries the bytes of one member after those of another
          !is_shared_[i] ? 0 : (c.with.count - 1) * static_cast<double>(received_at_most(c.call, c.with.count));
      f.takes = std::max(f.takes, saturated_sum(takes, saturated_count(to_others * of_byte)));
      f.latency = std::max(f.latency, saturated_count(net_.links[i].latency * 1e9));
      f.of_byte = std::max(f.of_byte, of_byte);
    }
    for (int r = 0; r < ranks_; ++r) {
      std::int64_t rest = 0;  // the rank of the group's member at the origin of its axes
      for (int a = 0; a < mesh_.count; ++a)
        if ((axes >> a & 1u) == 0) rest += mesh_.coordinate(r, a) * mesh_.stride(a);
      auto const same = std::ranges::find(f.origins, rest);
      if (same == f.origins.end()) f.origins.push_back(rest), f.groups.push_back({r});
      else f.groups[static_cast<std::size_t>(same - f.origins.begin())].push_back(r);
    }
    if (c.call.kind == collective::move && c.moves.by_sources) {
      std::size_t const members = c.moves.from.size();
      f.bytes_of_row = elements_in_row(c) * static_cast<std::int64_t>(bytes_of(c.call.type));
      for (std::size_t i = 0; i < members; ++i)
        f.holders.insert(f.holders.end(), static_cast<std::size_t>(c.moves.from[i].extent[c.moves.rows]),
                         static_cast<int>(i));
    }
    all_.push_back(std::move(f));
  }
  /// Sets the sources of the rows that move by sources. Without them, each member waits for all others.
  void set_sources(std::size_t which, std::vector<std::int64_t> const& sources) {
    route& f = all_[which];
    f.sent.clear(), f.has_sources = true;
    for (std::size_t row = 0; row < sources.size(); ++row) {
      if (sources[row] < 0 || sources[row] >= static_cast<std::int64_t>(f.holders.size())) continue;
      int const from = f.holders[static_cast<std::size_t>(sources[row])], to = f.holders[row];
      if (from == to) continue;
      auto const same = std::find_if(f.sent.rbegin(), f.sent.rend(),
                                     [&](sent_rows const& s) { return s.to != to || s.from == from; });
      if (same != f.sent.rend() && same->to == to) ++same->rows;
      else f.sent.push_back({from, to, 1});
    }
  }

  /// Starts a collective at the times at which ranks have come to it.
  void start(std::size_t which, std::vector<std::int64_t> const& now) {
    route& f = all_[which];
    f.done = now;
    for (std::vector<int> const& group : f.groups) {
      if (f.has_sources) send(f, group, now);
      else meet(f, group, now);
    }
  }
  /// The times at which ranks have ended the last run of a collective.
  std::vector<std::int64_t> const& done(std::size_t which) const { return all_[which].done; }
  /// For each rank, the time of all its collectives so far.
  std::vector<std::int64_t>& taken() { return taken_; }

 private:
  struct route {
    std::vector<std::size_t> over;  // indices of links
    std::int64_t takes = 0;         // of all members together
    std::int64_t latency = 0;       // of one message
    double of_byte = 0;             // the time of a byte
    std::vector<std::int64_t> origins;
    std::vector<std::vector<int>> groups;  // the ranks of each group, in the order of its members
    std::vector<std::int64_t> done;        // by rank
    std::vector<int> holders;              // of each row that moves by sources: the member that has it
    std::int64_t bytes_of_row = 0;
    bool has_sources = false;
    std::vector<sent_rows> sent;
  };

  std::size_t size() const { return static_cast<std::size_t>(ranks_); }
  /// The index of a rank's link among all links of one direction.
  std::size_t at(std::size_t link, int rank) const {
    return link * size() + (is_shared_[link] ? 0 : static_cast<std::size_t>(rank));
  }

  /// All members begin when the last one has come, and end together.
  void meet(route& f, std::vector<int> const& group, std::vector<std::int64_t> const& now) {
    std::int64_t begin = 0;
    for (int const r : group) {
      begin = std::max(begin, now[static_cast<std::size_t>(r)]);
      for (std::size_t const i : f.over) begin = std::max({begin, out_[at(i, r)].end(), in_[at(i, r)].end()});
    }
    std::int64_t const end = saturated_sum(begin, f.takes);
    for (int const r : group) {
      for (std::size_t const i : f.over) reserve(at(i, r), at(i, r), begin, end);
      finish(f, r, end, f.takes);
    }
  }
  /// Each message leaves when its sender has come and both links are free. Those that are ready first go first.
  void send(route& f, std::vector<int> const& group, std::vector<std::int64_t> const& now) {
    auto const rank = [&](int member) { return group[static_cast<std::size_t>(member)]; };
    auto const ready = [&](sent_rows const& s) {
      std::int64_t const sender = now[static_cast<std::size_t>(rank(s.from))];
      return net_.sends_wait ? std::max(sender, now[static_cast<std::size_t>(rank(s.to))]) : sender;
    };
    std::ranges::sort(f.sent, {}, [&](sent_rows const& s) { return std::tuple(ready(s), s.to, s.from); });
    for (sent_rows const& s : f.sent) {
      std::int64_t const takes = saturated_count(static_cast<double>(s.rows * f.bytes_of_row) * f.of_byte);
      std::int64_t begin = ready(s);
      for (std::int64_t before = -1; before != begin;) {
        before = begin;
        for (std::size_t const i : f.over)
          begin = in_[at(i, rank(s.to))].earliest(out_[at(i, rank(s.from))].earliest(begin, takes), takes);
      }
      for (std::size_t const i : f.over)
        reserve(at(i, rank(s.from)), at(i, rank(s.to)), begin, saturated_sum(begin, takes));
      std::int64_t const takes_in_all = saturated_sum(takes, f.latency), end = saturated_sum(begin, takes_in_all);
      finish(f, rank(s.to), end, takes_in_all);
      if (net_.sends_wait) finish(f, rank(s.from), end, 0);
    }
  }
  void reserve(std::size_t out, std::size_t in, std::int64_t begin, std::int64_t end) {
    out_[out].reserve(begin, end), in_[in].reserve(begin, end);
  }
  void finish(route& f, int rank, std::int64_t end, std::int64_t takes) {
    auto const r = static_cast<std::size_t>(rank);
    f.done[r] = std::max(f.done[r], end);
    taken_[r] = saturated_sum(taken_[r], takes);
  }

  network net_;
  mesh_shape mesh_;
  int ranks_;
  std::vector<bool> is_shared_;           // by link
  std::vector<link_direction> out_, in_;  // by link and rank
  std::vector<route> all_;                // by number
  std::vector<std::int64_t> taken_;
};

}  // namespace meshtensor::detail
