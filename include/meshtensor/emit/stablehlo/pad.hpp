// SPDX-License-Identifier: Apache-2.0
// Emits pads.
#pragma once

#include "meshtensor/emit/stablehlo/picked_positions.hpp"
#include "meshtensor/op/pad.hpp"

namespace meshtensor::hlo {

/// The opposite of a slice: the elements of `x` along dim `k` at such positions among `extent` elements, and `around`
/// elsewhere.
inline value spread(emission& e, value x, std::size_t k, positions at, std::int64_t extent, value const& around) {
  std::int64_t const count = x.type.shape[k], last = at[count - 1];
  if (at.step < 0) x = e.w.op("reverse", {x}, x.type, "dimensions = array<i64: " + std::to_string(k) + ">");
  extents low(x.type.shape.size()), high = low, inside = low;
  low[k] = std::min(at.first, last), high[k] = extent - 1 - std::max(at.first, last);
  inside[k] = std::abs(at.step) - 1;
  return pad(e.w, x, around, low, high, inside);
}

/// The opposite of a slice whose `first` and perhaps `step` are numbers of the step.
inline value spread(emission& e, node const& n, value const& x, std::size_t k, number_id first, number_id step,
                    std::int64_t extent, value const& around) {
  std::int64_t const count = x.type.shape[k];
  value begin = e.number(n, first, "i64");
  type t = x.type;
  t.shape[k] = extent;
  auto const by = known_step(e, step);
  if (!by) {  // for each element of the result, the position of its source in `x`
    value const beyond = binary(e.w, "subtract", {iota(e.w, {"i64", {extent}}, 0), fill(e.w, begin, {extent})});
    value const steps = fill(e.w, e.number(n, step, "i64"), {extent});
    value const from = binary(e.w, "divide", {beyond, steps});
    value const is_one = compare(e.w, "EQ", {binary(e.w, "multiply", {from, steps}), beyond});
    value const begins = compare(e.w, "LE", {like(e.w, from, 0), from});
    value const ends = compare(e.w, "LT", {from, like(e.w, from, count)});
    value const inside = binary(e.w, "and", {is_one, binary(e.w, "and", {begins, ends})});
    return select(e.w, {spread(e.w, inside, {static_cast<std::int64_t>(k)}, t.shape), at_each(e, x, k, from),
                        fill(e.w, around, t.shape)});
  }
  positions at{0, *by};
  std::int64_t const reach = at[count - 1];
  if (reach < 0) begin = binary(e.w, "add", {begin, like(e.w, begin, reach)}), at.first = -reach;
  value const run = at.step == 1 ? x : spread(e, x, k, at, std::abs(reach) + 1, around);
  return updated(e, fill(e.w, around, t.shape), run, k, begin);
}

inline value pad(emission& e, node const& n) {
  pad_attributes const a = pad_attributes::of(n);
  auto const along = static_cast<std::size_t>(e.result_dims(n).find(a.to));
  std::int64_t const extent = e.b.extent[a.to];
  value const outside = e.number(n, a.around, e.result_type(n).element);
  auto const at = known_places(e, a.first, a.step);
  if (!at) return spread(e, n, e.operand(n), along, a.first, a.step, extent, outside);
  require_within(e.m, *at, shift_kind::spread, a.from, e.b.extent[a.from], a.to, extent);
  return spread(e, e.operand(n), along, *at, extent, outside);
}

}  // namespace meshtensor::hlo
