// SPDX-License-Identifier: Apache-2.0
// Emits slices and pads, at places that are known before the first step, or that are numbers of each step. The latter
// are arguments of the program; run/whole_program/places_in_dims.hpp checks before the step that they are in the dims.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/slice.hpp"

namespace meshtensor::hlo {

/// The elements of `x` along dim `k` at `count` positions, all of which it has.
inline value taken(emission& e, value const& x, std::size_t k, positions at, std::int64_t count) {
  bool const is_reversed = at.step < 0;
  extents from(x.type.shape.size()), to = x.type.shape, steps(from.size(), 1);
  from[k] = is_reversed ? at[count - 1] : at.first, to[k] = (is_reversed ? at.first : at[count - 1]) + 1;
  steps[k] = is_reversed ? -at.step : at.step;
  type t = x.type;
  t.shape[k] = count;
  value const y = e.w.op("slice", {x}, t,
                         "start_indices = " + array_text(from) + ", limit_indices = " + array_text(to) +
                             ", strides = " + array_text(steps));
  return is_reversed ? e.w.op("reverse", {y}, t, "dimensions = array<i64: " + std::to_string(k) + ">") : y;
}
/// The opposite: the elements of `x` along dim `k` at such positions among `extent` elements, the others `around`.
inline value spread(emission& e, value x, std::size_t k, positions at, std::int64_t extent, value const& around) {
  std::int64_t const count = x.type.shape[k], last = at[count - 1];
  if (at.step < 0) x = e.w.op("reverse", {x}, x.type, "dimensions = array<i64: " + std::to_string(k) + ">");
  extents low(x.type.shape.size()), high = low, inside = low;
  low[k] = std::min(at.first, last), high[k] = extent - 1 - std::max(at.first, last);
  inside[k] = std::abs(at.step) - 1;
  type t = x.type;
  t.shape[k] = extent;
  return e.w.op("pad", {x, around}, t,
                "edge_padding_low = " + array_text(low) + ", edge_padding_high = " + array_text(high) +
                    ", interior_padding = " + array_text(inside));
}

/// `count` elements of `x` along dim `k` that begin at a number of the step.
inline value run_at(emission& e, value const& x, std::size_t k, value const& first, std::int64_t count) {
  std::vector<value> begin(x.type.shape.size(), like(e.w, first, 0));
  begin[k] = first;
  extents shape = x.type.shape;
  shape[k] = count;
  return part(e.w, x, begin, shape);
}
/// `x` with those elements overwritten by `run`.
inline value updated(emission& e, value const& x, value const& run, std::size_t k, value const& first) {
  std::vector<value> operands{x, run};
  for (std::size_t i = 0; i < x.type.shape.size(); ++i) operands.push_back(i == k ? first : like(e.w, first, 0));
  return e.w.op("dynamic_update_slice", operands, x.type);
}
/// The step of a slice or a pad, if it is known; a row for no step: 1. errors R10 it is 0
inline std::optional<std::int64_t> known_step(emission const& e, number_id row) {
  auto const by = row == no_id ? std::optional(number_value(1)) : e.known(row);
  if (!by) return {};
  number_value const numbers[] = {0, *by};
  return positions_of(numbers, number_id{0}, number_id{1}).step;
}
/// Positions that are known. errors R10 the step is 0
inline std::optional<positions> known_places(emission const& e, number_id first, number_id step) {
  auto const at = e.known(first);
  auto const by = known_step(e, step);
  if (!at || !by) return {};
  return positions{whole_number(*at), *by};
}

/// The elements of `x` along dim `k` at these positions, [count].
inline value at_each(emission& e, value const& x, std::size_t k, value const& positions) {
  extents others, sizes = x.type.shape;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (i != k) others.push_back(static_cast<std::int64_t>(i));
  sizes[k] = 1;
  type t = x.type;
  t.shape[k] = positions.type.shape[0];
  std::string const along = std::to_string(k);
  return e.w.op("gather", {x, positions}, t,
                "dimension_numbers = #stablehlo.gather<offset_dims = [" + list_text(others) +
                    "], collapsed_slice_dims = [" + along + "], start_index_map = [" + along +
                    "], index_vector_dim = 1>, slice_sizes = " + array_text(sizes) + ", indices_are_sorted = false");
}

/// The elements of `x` along dim `k` at `count` positions of which `first` and perhaps `step` are numbers of the step.
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
  if (reach < 0) begin = binary(e.w, "add", {begin, like(e.w, begin, static_cast<double>(reach))}), at.first = -reach;
  value const run = run_at(e, x, k, begin, std::abs(reach) + 1);
  return at.step == 1 ? run : taken(e, run, k, at, count);
}
/// The opposite: the elements of `x` at such positions among `extent` elements, the others `around`.
inline value spread(emission& e, node const& n, value const& x, std::size_t k, number_id first, number_id step,
                    std::int64_t extent, value const& around) {
  std::int64_t const count = x.type.shape[k];
  value begin = e.number(n, first, "i64");
  type t = x.type;
  t.shape[k] = extent;
  auto const by = known_step(e, step);
  if (!by) {  // for each element of the result, the position in `x` that it comes from
    value const beyond = binary(e.w, "subtract", {iota(e.w, {"i64", {extent}}, 0), fill(e.w, begin, {extent})});
    value const steps = fill(e.w, e.number(n, step, "i64"), {extent});
    value const from = binary(e.w, "divide", {beyond, steps});
    value const is_one = compare(e.w, "EQ", {binary(e.w, "multiply", {from, steps}), beyond});
    value const begins = compare(e.w, "LE", {like(e.w, from, 0), from});
    value const ends = compare(e.w, "LT", {from, like(e.w, from, static_cast<double>(count))});
    value const inside = binary(e.w, "and", {is_one, binary(e.w, "and", {begins, ends})});
    return select(e.w, {spread(e.w, inside, {static_cast<std::int64_t>(k)}, t.shape), at_each(e, x, k, from),
                        fill(e.w, around, t.shape)});
  }
  positions at{0, *by};
  std::int64_t const reach = at[count - 1];
  if (reach < 0) begin = binary(e.w, "add", {begin, like(e.w, begin, static_cast<double>(reach))}), at.first = -reach;
  value const run = at.step == 1 ? x : spread(e, x, k, at, std::abs(reach) + 1, around);
  return updated(e, fill(e.w, around, t.shape), run, k, begin);
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
