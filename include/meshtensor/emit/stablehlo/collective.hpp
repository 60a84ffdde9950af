// SPDX-License-Identifier: Apache-2.0
// Emits collectives over the replicas of a mesh.
#pragma once

#include <algorithm>
#include <bit>

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// The replica groups of a collective: the ranks that differ only along the axes of a mask, in the order of the mesh.
inline std::string groups(mesh_shape const& mesh, unsigned mask) {
  std::vector<extents> all;
  for (std::int64_t rank = 0; rank < mesh.size(); ++rank) {
    std::int64_t first = rank;  // the rank whose coordinates along these axes are 0
    for (int a = 0; a < mesh.count; ++a)
      if ((mask >> a & 1u) != 0) first -= mesh.coordinate(rank, a) * mesh.stride(a);
    auto g = std::find_if(all.begin(), all.end(), [&](extents const& known) { return known[0] == first; });
    if (g == all.end()) g = all.emplace(all.end());
    g->push_back(rank);
  }
  return "replica_groups = " + rows_text(all, all[0].size());
}

/// The slice of the iteration, from the rank that holds it. It is the sum of its bits and of zeros from the other
/// ranks, because StableHLO has no broadcast from a rank that changes.
inline value slice_of_one(emission& e, node const& n, dim_id along, std::string const& with) {
  type const t = e.result_type(n),
             bits = {t.element == "i1" ? "i1" : "ui" + std::to_string(8 * bytes_of(e.m.result_value(n).type)), t.shape};
  placement const& layout = e.m.operand_value(n, 0).layout;
  std::int64_t const length = e.b.slices_held(along, layout, [](int) { return 0; }).count;
  auto const mine = e.slice_of_iteration(e.origin(layout, placement::of_loop, length), length);
  value x = e.operand(n);
  if (!mine.is_here) return x;
  bool const is_bool = t.element == "i1";
  if (!is_bool) x = e.w.op("bitcast_convert", {x}, bits);
  x = select(e.w, {*mine.is_here, x, constant(e.w, bits, 0.0)});
  x = e.w.op("all_reduce", {x}, bits, with, combining(is_bool ? reduction::max : reduction::sum, bits.element));
  return is_bool ? x : e.w.op("bitcast_convert", {x}, t);
}

/// Emits a collective. Over one rank, it is its operand.
inline value emit_collective(emission& e, node const& n) {
  collective_attributes const a = collective_attributes::of(n);
  value const& x = e.operand(n);
  std::int64_t const members = e.b.members(a.axes);
  if (members == 1) return x;
  std::string const with = groups(e.mesh, a.axes);
  auto const place = [&](dim_id dim) { return std::to_string(e.dims(n).find(dim)) + " : i64, "; };
  type const t = e.result_type(n);
  std::string const region = combining(static_cast<reduction>(n.function), t.element);
  if (dim_id const along = collective_attributes::of_slices(e.m, n);
      along != no_id)  // a sum that one rank needs goes to all
    return n.kind == primitive::all_gather ? slice_of_one(e, n, along, with)
                                           : e.w.op("all_reduce", {x}, t, with, region);
  switch (n.kind) {
    case primitive::all_reduce: return e.w.op("all_reduce", {x}, t, with, region);
    case primitive::reduce_scatter:
      return e.w.op("reduce_scatter", {x}, t, "scatter_dimension = " + place(a.split) + with, region);
    case primitive::all_gather: return e.w.op("all_gather", {x}, t, "all_gather_dim = " + place(a.join) + with);
    case primitive::all_to_all:
      return e.w.op("all_to_all", {x}, t,
                    "split_dimension = " + place(a.split) + "concat_dimension = " + place(a.join) +
                        "split_count = " + std::to_string(members) + " : i64, " + with);
    default: e.refuse(n, text_of(n.kind));
  }
}

/// This rank's slice of a value that was replicated over an axis, to be sharded over it.
inline value own_part(emission& e, node const& n) {
  collective_attributes const a = collective_attributes::of(n);
  type const t = e.result_type(n);
  auto const along = static_cast<std::size_t>(e.dims(n).find(a.split));
  int const axis = std::countr_zero(a.axes);
  if (e.mesh.axes[axis].extent == 1) return e.operand(n);
  std::vector<value> first(t.shape.size(), constant(e.w, {"i64", {}}, 0.0));
  first[along] = scaled(e.w, e.coordinate(axis), t.shape[along]);
  return part(e.w, e.operand(n), first, t.shape);
}

}  // namespace meshtensor::hlo
