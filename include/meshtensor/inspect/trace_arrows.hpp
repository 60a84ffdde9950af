// SPDX-License-Identifier: Apache-2.0
// Finds the arrows of a trace. For each collective and message, they lead from the rank that came last to those ranks
// that waited for it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "meshtensor/comm/moved_subbox.hpp"
#include "meshtensor/job/collective_planner.hpp"
#include "meshtensor/pass/cost.hpp"

namespace meshtensor::detail {

/// A bar of a trace, with times in nanoseconds.
struct trace_bar {
  int rank;
  node_id node;
  double begin, end;

  double middle() const { return begin + std::floor((end - begin) / 2); }
};

/// An arrow from the bar in which a rank came to a collective to the bar in which another rank has waited for it.
struct trace_arrow {
  trace_bar from, to;
};

class arrows_of_trace {
 public:
  arrows_of_trace(module const& m, plan const& p, mesh_shape const& mesh, std::vector<trace_bar> const& bars)
      : m_(m), p_(p), mesh_(mesh) {
    for (trace_bar const& b : bars) {
      node const& n = m.nodes[b.node];
      if (is_collective(n.kind)) starts_[b.node][b.rank].push_back(b);
      if (n.kind == primitive::wait) waits_[static_cast<int>(&awaited(m, n) - m.nodes)][b.rank].push_back(b);
    }
    for (auto* each : {&starts_, &waits_})
      for (auto& [node, by_rank] : *each)
        for (auto& [rank, list] : by_rank) std::ranges::sort(list, {}, &trace_bar::begin);
  }

  std::vector<trace_arrow> all() const {
    std::vector<trace_arrow> arrows;
    for (auto const& [node, by_rank] : starts_)
      for (auto const& [rank, own] : by_rank) {
        auto const plan = collective_planner(m_, p_, mesh_, rank).of(m_.nodes[node]);
        for (std::size_t run = 0; run < own.size(); ++run)
          if (trace_bar const* const last = last_source(m_.nodes[node], *plan, by_rank, rank, run); last != nullptr)
            arrows.push_back({*last, waiting_bar(node, own[run])});
      }
    return arrows;
  }

 private:
  using bars_by_rank = std::map<int, std::vector<trace_bar>>;

  /// The bar of the rank for which this rank waited. Of the ranks that send to it, that rank came last. In a
  /// collective, the last rank of all waits for nobody.
  trace_bar const* last_source(node const& n, planned_collective const& c, bars_by_rank const& by_rank, int rank,
                               std::size_t run) const {
    trace_bar const* last = nullptr;
    for (std::size_t k = 0; k < c.members.size(); ++k) {
      auto const found = by_rank.find(c.members[k]);
      if (c.members[k] == rank || found == by_rank.end() || run >= found->second.size()) continue;
      if (!sends(n, c, static_cast<int>(k))) continue;
      trace_bar const& b = found->second[run];
      if (last == nullptr || came_before(*last, b)) last = &b;
    }
    if (last == nullptr || n.kind == primitive::move) return last;
    return came_before(*last, by_rank.at(rank)[run]) ? nullptr : last;
  }
  /// In the order of time. Of ranks that came at one time, the first one counts as earlier.
  static bool came_before(trace_bar const& a, trace_bar const& b) {
    return a.begin < b.begin || (a.begin == b.begin && a.rank < b.rank);
  }
  /// Whether a member has something for this rank. In a shift by a number of the step, all members may have something.
  bool sends(node const& n, planned_collective const& c, int member) const {
    if (n.kind != primitive::move) return true;
    move_attributes const a = move_attributes::of(n);
    auto const at =
        a.first == no_id ? std::optional<positions>(positions{}) : known_positions(m_, p_.numbers, a.first, a.step);
    if (!at) return true;
    bool any = false;
    comm::each_subbox(c.moves, *at, member, c.with.index,
                      [&](comm::moved_subbox const& s) { any = any || s.elements(c.moves.dims) != 0; });
    return any;
  }
  /// Where a rank waits for a collective that it has started: in the first wait behind it, or in the collective itself.
  trace_bar const& waiting_bar(int node, trace_bar const& started) const {
    auto const waits = waits_.find(node);
    if (waits == waits_.end() || !waits->second.contains(started.rank)) return started;
    std::vector<trace_bar> const& list = waits->second.at(started.rank);
    auto const next = std::ranges::lower_bound(list, started.end, {}, &trace_bar::begin);
    return next == list.end() ? started : *next;
  }

  meshtensor::module const& m_;
  plan const& p_;
  mesh_shape const& mesh_;
  std::map<int, bars_by_rank> starts_, waits_;  // by the number of the collective's node
};

}  // namespace meshtensor::detail
