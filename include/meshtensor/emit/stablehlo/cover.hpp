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
  type wide = x.type;
  wide.shape[at] += low[at] + high[at];
  if (wide.shape[at] != all)
    x = e.w.op("pad", {x, constant(e.w, {x.type.element, {}}, 0.0)}, wide,
               "edge_padding_low = " + array_text(low) + ", edge_padding_high = " + array_text(high) +
                   ", interior_padding = " + array_text(extents(low.size())));
  std::vector<value> first(wide.shape.size(), constant(e.w, {"i64", {}}, 0.0));
  value const from = like(e.w, first[at], static_cast<double>(r.first + low[at]));
  auto const part_index = e.origin(layout, place, 1);
  first[at] = part_index ? binary(e.w, "add", {scaled(e.w, *part_index, static_cast<double>(r.step)), from}) : from;
  type own = wide;
  own.shape[at] = r.length;
  return part(e.w, x, first, own.shape);
}

/// The `count` elements from `begin` on, from the replica that is `distance` places further along an axis. If there is
/// no such replica, they are zeros.
inline value from_neighbour(emission& e, value const& x, int k, std::int64_t begin, std::int64_t count, int axis,
                            std::int64_t distance) {
  auto const at = static_cast<std::size_t>(k);
  extents from(x.type.shape.size()), to = x.type.shape;
  from[at] = begin, to[at] = begin + count;
  type t = x.type;
  t.shape[at] = count;
  value const sent = e.w.op("slice", {x}, t,
                            "start_indices = " + array_text(from) + ", limit_indices = " + array_text(to) +
                                ", strides = " + array_text(extents(from.size(), 1)));
  std::string pairs;
  std::int64_t number = 0;
  for (std::int64_t rank = 0; rank < e.mesh.size(); ++rank) {
    std::int64_t const source = e.mesh.coordinate(rank, axis) + distance;
    if (source < 0 || source >= e.mesh.axes[axis].extent) continue;
    pairs += (number++ == 0 ? "[" : ", [") + list_text(extents{rank + distance * e.mesh.stride(axis), rank}) + "]";
  }
  return e.w.op("collective_permute", {sent}, t,
                "source_target_pairs = dense<[" + pairs + "]> : tensor<" + std::to_string(number) + "x2xi64>");
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
  if (parts.size() == 1) return x;
  type t = x.type;
  t.shape[at] = r.length;
  return e.w.op("concatenate", parts, t, "dimension = " + std::to_string(k) + " : i64");
}

}  // namespace meshtensor::hlo
