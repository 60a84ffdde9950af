// SPDX-License-Identifier: Apache-2.0
// Emits halos: each replica's part of a dim, with the neighbours' elements that windows reach from it. All replicas run
// one program, so the widened part has the same length on all of them. Therefore it is not cut at the ends of the dim,
// but has zeros beyond them.
#pragma once

#include "meshtensor/emit/stablehlo/collective.hpp"

namespace meshtensor::hlo {

/// The elements of `x` that windows reach from each replica's part along dim `k`. `x` is whole along this dim, and
/// zeros stand beyond its ends. `layout` and `place` say how the dim is cut into parts.
inline value reached_of_whole(emission& e, value x, int k, reached_range const& r, placement const& layout, int place) {
  auto const at = static_cast<std::size_t>(k);
  std::int64_t const parts = reached_range::parts_of(e.b, layout, place), all = x.type.shape[at];
  std::int64_t const last = r.first + (parts - 1) * r.step;
  extents low(x.type.shape.size()), high = low;
  low[at] = std::max<std::int64_t>(0, -r.first);
  high[at] = std::max<std::int64_t>(0, last + r.length - all);
  if (low[at] + high[at] != 0) x = pad(e.w, x, low, high);
  std::vector<value> first(low.size(), constant(e.w, {"i64", {}}, 0.0));
  value const from = like(e.w, first[at], r.first + low[at]);
  auto const part_index = e.origin(layout, place, 1);
  first[at] = part_index ? binary(e.w, "add", {scaled(e.w, *part_index, r.step), from}) : from;
  extents own = x.type.shape;
  own[at] = r.length;
  return part(e.w, x, first, own);
}

/// The `count` elements from `begin` on, from the replica that is `distance` places further along an axis. If there is
/// no such replica, they are zeros.
inline value from_neighbour(emission& e, value const& x, int k, std::int64_t begin, std::int64_t count, int axis,
                            std::int64_t distance) {
  auto const at = static_cast<std::size_t>(k);
  extents from(x.type.shape.size()), to = x.type.shape;
  from[at] = begin, to[at] = begin + count;
  value const sent = slice(e.w, x, from, to);
  std::vector<extents> pairs;
  for (std::int64_t rank = 0; rank < e.mesh.size(); ++rank) {
    std::int64_t const source = e.mesh.coordinate(rank, axis) + distance;
    if (source < 0 || source >= e.mesh.axes[axis].extent) continue;
    pairs.push_back({rank + distance * e.mesh.stride(axis), rank});
  }
  return e.w.op("collective_permute", {sent}, sent.type, "source_target_pairs = " + rows_text(pairs));
}

/// The elements that windows reach from each replica's part along dim `k`, from the replica itself and its neighbours
/// along one axis. The result is empty if some of these elements are on other replicas.
inline std::optional<value> reached_of_neighbours(emission& e, value const& x, int k, reached_range const& r,
                                                  placement const& before, placement const& after) {
  auto const at = static_cast<std::size_t>(k);
  std::int64_t const own = x.type.shape[at], low = -r.first, high = r.first + r.length - own;
  if (before.axes_of(k) != 1 || after.axes_of(k) != 1 || before.axis_at(k, 0) != after.axis_at(k, 0)) return {};
  if (r.step != own || low < 0 || high < 0 || low > own || high > own) return {};
  int const axis = before.axis_at(k, 0);
  std::vector<value> parts;
  if (low > 0) parts.push_back(from_neighbour(e, x, k, own - low, low, axis, -1));
  parts.push_back(x);
  if (high > 0) parts.push_back(from_neighbour(e, x, k, 0, high, axis, 1));
  return parts.size() == 1 ? x : concatenate(e.w, parts, at);
}

}  // namespace meshtensor::hlo
