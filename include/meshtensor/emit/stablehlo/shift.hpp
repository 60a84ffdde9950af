// SPDX-License-Identifier: Apache-2.0
// Emits shifts along a dim, and moves between placements. A move gathers the dims that change hands, shifts them and
// takes each replica's own part.
#pragma once

#include "meshtensor/emit/stablehlo/halo.hpp"
#include "meshtensor/emit/stablehlo/pad.hpp"
#include "meshtensor/emit/stablehlo/slice.hpp"
#include "meshtensor/op/shift.hpp"

namespace meshtensor::hlo {

/// Whether a move rolls or shifts. Then positions beyond the ends of the dim are no error.
inline bool is_shift(move_attributes const& a) {
  return a.first != no_id && a.from == a.to && a.step == no_id && a.how <= shift_kind::wrap;
}

/// A roll or a shift by a number that changes between steps. For a roll, the elements stand twice. For a shift, they
/// stand between two rooms of padding. The result is a part of that.
inline value shifted_by_argument(emission& e, node const& n, value const& x, int k, move_attributes const& a) {
  auto const along = static_cast<std::size_t>(k);
  std::int64_t const size = x.type.shape[along];
  value first = e.number(n, a.first, "i64");
  value const extent = like(e.w, first, size);
  value all = x;
  if (a.how == shift_kind::wrap) {
    all = concatenate(e.w, {x, x}, along);
    value const over = binary(e.w, "add", {binary(e.w, "remainder", {first, extent}), extent});
    first = binary(e.w, "remainder", {over, extent});
  } else {
    extents room(x.type.shape.size());
    room[along] = size;
    all = pad(e.w, x, e.number(n, a.around, x.type.element), room, room);
    // XLA moves an offset that is out of range to the nearest end of the padding.
    first = binary(e.w, "add", {first, extent});
  }
  return run_at(e, all, along, first, size);
}

/// The elements of `x` shifted along its dim `k`, which is whole. The result has `extent` elements along it.
inline value shifted(emission& e, node const& n, value x, int k, move_attributes const& a, std::int64_t extent) {
  auto const known = known_places(e, a.first, a.step);
  auto const around = a.around == no_id ? std::optional(number_value(0)) : e.known(a.around);
  if (is_shift(a) && (!known || !around)) return shifted_by_argument(e, n, x, k, a);
  auto const along = static_cast<std::size_t>(k);
  if (!known && a.how == shift_kind::cut) return taken(e, n, x, along, a.first, a.step, extent);
  if (!known || !around) {
    if (a.how != shift_kind::spread) e.refuse(n, "a shift whose numbers change between steps");
    return spread(e, n, x, along, a.first, a.step, extent, e.number(n, a.around, x.type.element));
  }
  std::int64_t const size = x.type.shape[along];
  if (a.how == shift_kind::wrap) {
    std::int64_t const first = (known->first % size + size) % size;
    if (first == 0) return x;
    return concatenate(e.w, {taken(e, x, along, {first}, size - first), taken(e, x, along, {0}, first)}, along);
  }
  value const outside = constant(e.w, {x.type.element, {}}, *around);
  shifted_run run{};  // of all elements that come from `x`
  each_run(a.how, *known, size, {0, size}, {0, extent}, [&](shifted_run const& r) { run = r; });
  if (run.count == 0) {
    x.type.shape[along] = extent;
    return fill(e.w, outside, x.type.shape);
  }
  x = taken(e, x, along, {run.from, run.from_step}, run.count);
  return spread(e, x, along, {run.to, run.to_step}, extent, outside);
}

inline value shift(emission& e, node const& n) {
  shift_attributes const a = shift_attributes::of(n);
  return shifted(e, n, e.operand(n), e.dims(n).find(a.dim),
                 {a.dim, a.dim, a.first, a.around, 0, static_cast<shift_kind>(n.function)}, e.b.extent[a.dim]);
}

inline value move(emission& e, node const& n) {
  move_attributes const a = move_attributes::of(n);
  meshtensor::value const& result = e.m.result_value(n);
  placement const &before = e.m.operand_value(n, 0).layout, &after = result.layout;
  auto const takes_part = [&](int axis) { return (a.axes >> axis & 1u) != 0 && e.mesh.axes[axis].extent > 1; };
  value x = e.operand(n);
  int const dims = e.dims(n).count;
  std::vector<std::optional<reached_range>> reached(
      static_cast<std::size_t>(dims));  // the ranges that are still to be taken from whole dims
  for (int d = 0; d < dims; ++d) {
    auto& range = reached[static_cast<std::size_t>(d)];
    // If the node does not change a dim, the dim has all elements that windows reach already.
    if (e.dims(n).at[d] != result.dims.at[d]) range = reached_range::of(e.m, e.b, result, d);
    if (auto const near = range ? reached_of_neighbours(e, x, d, *range, before, after) : std::nullopt) {
      x = *near;
      range.reset();
      continue;
    }
    for (int o = before.axes_of(d); o-- > 0;) {
      int const axis = before.axis_at(d, o);
      if (!takes_part(axis)) continue;
      type t = x.type;
      t.shape[static_cast<std::size_t>(d)] *= e.mesh.axes[axis].extent;
      x = e.w.op("all_gather", {x}, t,
                 "all_gather_dim = " + std::to_string(d) + " : i64, " + groups(e.mesh, 1u << axis));
    }
  }
  if (a.first != no_id) x = shifted(e, n, x, e.dims(n).find(a.from), a, e.b.extent[a.to]);
  type const own = e.result_type(n);
  extents sizes = x.type.shape;
  std::vector<value> first(sizes.size(), constant(e.w, {"i64", {}}, 0.0));
  bool is_part = false;
  for (int d = 0; d < dims; ++d) {
    auto const at = static_cast<std::size_t>(d);
    if (e.b.halo_of[result.dims.at[d]].whole != 0) continue;
    auto const part = e.part_number(after, d, takes_part);
    if (!part) continue;
    sizes[at] = own.shape[at], first[at] = scaled(e.w, *part, own.shape[at]), is_part = true;
  }
  if (is_part) x = part(e.w, x, first, sizes);
  for (int d = 0; d < dims; ++d)
    if (auto const& range = reached[static_cast<std::size_t>(d)]) x = reached_of_whole(e, x, d, *range, after, d);
  return x;
}

}  // namespace meshtensor::hlo
