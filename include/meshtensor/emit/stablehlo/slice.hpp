// SPDX-License-Identifier: Apache-2.0
// Emits slices.
#pragma once

#include "meshtensor/emit/stablehlo/picked_positions.hpp"
#include "meshtensor/op/slice.hpp"

namespace meshtensor::hlo {

/// The elements of `x` along dim `k` at `count` positions, all of which it has.
inline value taken(emission& e, value const& x, std::size_t k, positions at, std::int64_t count) {
  bool const is_reversed = at.step < 0;
  extents from(x.type.shape.size()), to = x.type.shape, steps(from.size(), 1);
  from[k] = is_reversed ? at[count - 1] : at.first, to[k] = (is_reversed ? at.first : at[count - 1]) + 1;
  steps[k] = is_reversed ? -at.step : at.step;
  value const y = slice(e.w, x, from, to, steps);
  return is_reversed ? e.w.op("reverse", {y}, y.type, "dimensions = array<i64: " + std::to_string(k) + ">") : y;
}

/// `count` elements of `x` along dim `k` that begin at a number of the step.
inline value run_at(emission& e, value const& x, std::size_t k, value const& first, std::int64_t count) {
  std::vector<value> begin(x.type.shape.size(), like(e.w, first, 0));
  begin[k] = first;
  extents shape = x.type.shape;
  shape[k] = count;
  return part(e.w, x, begin, shape);
}

/// The elements of `x` along dim `k` at `count` positions. `first` and perhaps `step` are numbers of the step.
inline value taken(emission& e, node const& n, value const& x, std::size_t k, number_id first, number_id step,
                   std::int64_t count) {
  value begin = e.number(n, first, "i64");
  auto const by = known_step(e, step);
  if (!by) {
    value const k_th = iota(e.w, {"i64", {count}}, 0);
    value const steps = binary(e.w, "multiply", {k_th, fill(e.w, e.number(n, step, "i64"), {count})});
    return at_each(e, x, k, binary(e.w, "add", {fill(e.w, begin, {count}), steps}));
  }
  positions at{0, *by};
  std::int64_t const reach = at[count - 1];
  if (reach < 0) begin = binary(e.w, "add", {begin, like(e.w, begin, reach)}), at.first = -reach;
  value const run = run_at(e, x, k, begin, std::abs(reach) + 1);
  return at.step == 1 ? run : taken(e, run, k, at, count);
}

inline value slice(emission& e, node const& n) {
  strided_window const a = strided_window::of(n);
  auto const along = static_cast<std::size_t>(e.dims(n).find(a.from));
  std::int64_t const extent = e.b.extent[a.from], count = e.b.extent[a.to];
  auto const at = known_places(e, a.first, a.step);
  if (!at) return taken(e, n, e.operand(n), along, a.first, a.step, count);
  require_within(e.m, *at, shift_kind::cut, a.from, extent, a.to, count);
  return taken(e, e.operand(n), along, *at, count);
}

}  // namespace meshtensor::hlo
