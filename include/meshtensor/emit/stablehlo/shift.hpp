// SPDX-License-Identifier: Apache-2.0
// Emits shifts along a dim, and moves between placements: as a gather of what changes hands, the shift, and each
// replica's own part.
#pragma once

#include "meshtensor/emit/stablehlo/exchange.hpp"
#include "meshtensor/op/shift.hpp"

namespace meshtensor::hlo {

/// The elements of `x` shifted along dim `k` of it, which is whole; the result has `extent` there.
///
/// errors  R01 the number by which it shifts, or the one around it, is not known before the first step
inline value shifted(emission& e, node const& n, value x, int k, shift_kind how, number_id first_row,
                     number_id around_row, std::int64_t extent) {
  auto const known = e.known(first_row), around = around_row == no_id ? std::optional(0.0) : e.known(around_row);
  if (!known || !around) e.refuse(n, "a shift by a number that changes between steps");
  auto first = static_cast<std::int64_t>(*known);
  auto const at = static_cast<std::size_t>(k);
  std::int64_t const size = x.type.shape[at];
  if (how == shift_kind::reverse) {
    x = e.w.op("reverse", {x}, x.type, "dimensions = array<i64: " + std::to_string(k) + ">");
    first = size - 1 - first;
  }
  auto const cut = [&](std::int64_t begin, std::int64_t end) {
    extents from(x.type.shape.size()), to = x.type.shape;
    from[at] = begin, to[at] = end;
    type t = x.type;
    t.shape[at] = end - begin;
    return e.w.op("slice", {x}, t,
                  "start_indices = " + array_text(from) + ", limit_indices = " + array_text(to) +
                      ", strides = " + array_text(extents(from.size(), 1)));
  };
  type t = x.type;
  t.shape[at] = extent;
  if (how == shift_kind::wrap) {
    first = (first % size + size) % size;
    if (first == 0) return x;
    return e.w.op("concatenate", {cut(first, size), cut(0, first)}, t, "dimension = " + std::to_string(k) + " : i64");
  }
  value const outside = constant(e.w, {t.element, {}}, *around);
  std::int64_t const begin = std::max<std::int64_t>(first, 0), end = std::min(size, first + extent);
  if (begin >= end) return fill(e.w, outside, t.shape);
  extents low(t.shape.size()), high = low;
  low[at] = begin - first, high[at] = extent - (end - first);
  return e.w.op("pad", {cut(begin, end), outside}, t,
                "edge_padding_low = " + array_text(low) + ", edge_padding_high = " + array_text(high) +
                    ", interior_padding = " + array_text(extents(low.size())));
}

inline value shift(emission& e, node const& n) {
  shift_attributes const a = shift_attributes::of(n);
  return shifted(e, n, e.operand(n), e.dims(n).find(a.dim), static_cast<shift_kind>(n.function), a.first, a.around,
                 e.b.extent[a.dim]);
}

inline value move(emission& e, node const& n) {
  move_attributes const a = move_attributes::of(n);
  placement const &before = e.m.operand_value(n, 0).layout, &after = e.m.result_value(n).layout;
  auto const takes_part = [&](int axis) { return (a.axes >> axis & 1u) != 0 && e.mesh.axes[axis].extent > 1; };
  value x = e.operand(n);
  int const dims = e.dims(n).count;
  for (int d = 0; d < dims; ++d)
    for (int o = before.axes_of(d); o-- > 0;) {
      int const axis = before.axis_at(d, o);
      if (!takes_part(axis)) continue;
      type t = x.type;
      t.shape[static_cast<std::size_t>(d)] *= e.mesh.axes[axis].extent;
      x = e.w.op("all_gather", {x}, t,
                 "all_gather_dim = " + std::to_string(d) + " : i64, " + groups(e.mesh, 1u << axis));
    }
  if (a.first != no_id) x = shifted(e, n, x, e.dims(n).find(a.from), a.how, a.first, a.around, e.b.extent[a.to]);
  type const own = e.result_type(n);
  std::vector<value> first(own.shape.size(), constant(e.w, {"i64", {}}, 0.0));
  bool is_part = false;
  for (int d = 0; d < dims; ++d) {
    std::optional<value> part;
    for (int o = 0, axis = 0; (axis = after.axis_at(d, o)) >= 0; ++o) {
      if (!takes_part(axis)) continue;
      value const here = e.coordinate(axis);
      part =
          part ? binary(e.w, "add", {scaled(e.w, *part, static_cast<double>(e.mesh.axes[axis].extent)), here}) : here;
    }
    if (!part) continue;
    auto const at = static_cast<std::size_t>(d);
    first[at] = scaled(e.w, *part, static_cast<double>(own.shape[at])), is_part = true;
  }
  return is_part ? part(e.w, x, first, own.shape) : x;
}

}  // namespace meshtensor::hlo
