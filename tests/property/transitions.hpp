// SPDX-License-Identifier: Apache-2.0
// Placements of a value on a mesh, the steps between them, and their costs: computed independently, from the
// definition, to compare with `reshard`.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <vector>

#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/tensor/layout.hpp"

namespace transitions {

namespace mt = meshtensor;

/// All placements of a value with so many dims: every axis is replicated, partial, or shards a dim at any place in its
/// list.
inline std::vector<mt::placement> all(int dims, mt::mesh_shape const& mesh, bool with_partial) {
  std::vector<mt::placement> found{mt::placement{}};
  for (int a = 0; a < mesh.count; ++a) {
    std::vector<mt::placement> next;
    for (mt::placement const& p : found) {
      next.push_back(p);
      for (int d = 0; d < dims; ++d)
        for (int at = 0, n = p.axes_of(d); at <= n; ++at) {
          mt::placement q = p;
          for (int o = 0; o < mesh.count; ++o)
            if (q.sharded_at(o) == d && q.order(o) >= at) q.set_order(o, q.order(o) + 1);
          q.shard(d, a, at);
          next.push_back(q);
        }
      for (mt::reduction kind : {mt::reduction::sum, mt::reduction::max, mt::reduction::min}) {
        if (!with_partial) break;
        mt::placement q = p;
        q.set_part(a, kind);
        next.push_back(q);
      }
    }
    found = next;
  }
  return found;
}

/// The size of a processor's block of a value of size 1.
inline double block(mt::placement const& p, mt::mesh_shape const& mesh) {
  double size = 1;
  for (int a = 0; a < mesh.count; ++a)
    if (p.shards(a)) size /= static_cast<double>(mesh.axes[a].extent);
  return size;
}

enum class change { slice, gather, exchange, reduce, scatter };

/// The data that one processor receives when an axis of p processors changes, from the size of its block before.
inline double received(change c, double before, double p) {
  switch (c) {
    case change::slice: return 0;
    case change::gather: return (p - 1) * before;
    case change::exchange: return (p - 1) / p * before;
    case change::reduce: return 2 * (p - 1) / p * before;
    case change::scatter: return (p - 1) / p * before;
  }
  return 0;
}

/// The cost that the table of single changes allows for a change of placement: every axis pays for its own change,
/// those that make the block smaller come first. -1: the axes conflict, so that single changes alone do not lead there.
inline double allowed(mt::placement const& from, mt::placement const& to, int dims, mt::mesh_shape const& mesh) {
  auto const change_of = [&](int a) {
    if (from.is_partial(a)) return to.shards(a) ? change::scatter : change::reduce;
    return !from.shards(a) ? change::slice : !to.shards(a) ? change::gather : change::exchange;
  };
  for (int d = 0; d < dims; ++d) {
    int kept = 0, lost = 0, moved = 0, last = 0;
    while (from.axis_at(d, kept) >= 0 && from.axis_at(d, kept) == to.axis_at(d, kept)) ++kept;
    for (int o = kept, a = 0; (a = from.axis_at(d, o)) >= 0; ++o) ++lost, moved += to.shards(a);
    if (lost != 0 && to.axis_at(d, kept) >= 0) return -1;
    if (moved != 0 && lost > 1) return -1;
    constexpr int place[] = {0, 4, 2, 3, 1};  // of slice, gather, exchange, reduce, scatter
    for (int o = kept, a = 0; (a = to.axis_at(d, o)) >= 0; ++o) {
      int const now = place[static_cast<int>(change_of(a))];
      if (now < last) return -1;
      last = now;
    }
  }
  double cost = 0, size = block(from, mesh);
  for (change c : {change::slice, change::scatter, change::reduce, change::exchange, change::gather})
    for (int a = 0; a < mesh.count; ++a) {
      bool const same = from.sharded_at(a) == to.sharded_at(a) && from.part(a) == to.part(a);
      if (same || change_of(a) != c) continue;
      auto const p = static_cast<double>(mesh.axes[a].extent);
      cost += received(c, size, p);
      if (c == change::slice || c == change::scatter) size /= p;
      if (c == change::gather) size *= p;
    }
  return cost;
}

/// Calls f(placement, change, axis) for every single collective over one axis.
template <class F>
void each_step(mt::placement const& p, int dims, mt::mesh_shape const& mesh, F f) {
  for (int a = 0; a < mesh.count; ++a) {
    bool const is_partial = p.is_partial(a);
    bool const minor = p.shards(a) && p.order(a) + 1 == p.axes_of(p.sharded_at(a));
    mt::placement without = p;
    without.set_part(a, mt::reduction::none);
    if (minor) without.unshard(a);
    if (is_partial) f(without, change::reduce, a);
    if (minor) f(without, change::gather, a);
    if (!is_partial && !minor && p.shards(a)) continue;
    for (int d = 0; d < dims; ++d) {
      if (minor && p.sharded_at(a) == d) continue;
      mt::placement q = without;
      q.shard(d, a);
      f(q, is_partial ? change::scatter : minor ? change::exchange : change::slice, a);
    }
  }
}

/// The least data to receive on the way from one placement to every other.
inline std::map<std::uint64_t, double> cheapest(mt::placement const& from, int dims, mt::mesh_shape const& mesh) {
  struct at {
    double cost;
    mt::placement p;
    bool operator<(at const& o) const { return cost > o.cost; }
  };
  std::map<std::uint64_t, double> best{{from.bits, 0}};
  std::priority_queue<at> open;
  open.push({0, from});
  while (!open.empty()) {
    at const here = open.top();
    open.pop();
    if (here.cost > best[here.p.bits]) continue;
    double const size = block(here.p, mesh);
    each_step(here.p, dims, mesh, [&](mt::placement const& q, change c, int axis) {
      double const cost = here.cost + received(c, size, static_cast<double>(mesh.axes[axis].extent));
      auto const [found, fresh] = best.try_emplace(q.bits, cost);
      if (!fresh && found->second <= cost) return;
      found->second = cost;
      open.push({cost, q});
    });
  }
  return best;
}

}  // namespace transitions
