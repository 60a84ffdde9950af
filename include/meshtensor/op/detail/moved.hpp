// SPDX-License-Identifier: Apache-2.0
// Partitions operations that shift elements along a dim: one move between ranks, if the dim is sharded before or after
// it.
#pragma once

#include <cmath>

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/builder.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/graph/rule.hpp"

namespace meshtensor {

/// A position along a dim, or a number of positions, rounded down. errors R10 it is nan, or not from -2^53 to 2^53
inline std::int64_t whole_number(number_value const& position) {
  constexpr double most = 0x1p53;
  if (position.rest == 0 && position.real >= -most && position.real <= most)
    return static_cast<std::int64_t>(std::floor(position.real));
  diagnostic d{};
  add_exact(d << "R10 a position along a dim is ", position) << ": give a number between -2^53 and 2^53";
  raise(d);
  return 0;
}

/// The positions that a slice or a pad with a step takes. A `step` of no_id means 1. errors R10 the step is 0, or as
/// above
inline positions positions_of(number_value const* numbers, number_id first, number_id step) {
  positions const at{whole_number(numbers[first]), step == no_id ? 1 : whole_number(numbers[step])};
  if (at.step == 0) throw error("R10", {"the step of a slice or a pad is 0: give another whole number"});
  return at;
}

/// errors R10 a slice (cut) or a pad (spread) from one dim to another reaches beyond the longer one
inline void require_within(module const& m, positions at, shift_kind how, dim_id from, std::int64_t from_extent,
                           dim_id to, std::int64_t to_extent) {
  bool const is_slice = how == shift_kind::cut;
  if (is_slice ? are_within(at, to_extent, from_extent) : are_within(at, from_extent, to_extent)) return;
  std::string const steps = at.step == 1 ? "" : " in steps of " + std::to_string(at.step);
  if (is_slice)
    throw error("R10", {"a slice of '", m.dim_name(from), "' from ", at.first, " on", steps, ", ", to_extent,
                        " long, reaches beyond its extent, ", from_extent});
  throw error("R10", {"'", m.dim_name(from), "', ", from_extent, " long, padded from ", at.first, " on", steps,
                      ", reaches beyond the extent of '", m.dim_name(to), "', ", to_extent});
}

/// The positions in operand 0 that a strided window takes. errors R10 one is beyond the dim, or the step is 0
inline positions window_positions(evaluation const& e) {
  strided_window const a = strided_window::of(e.n);
  int const along = e.operands[0].find(a.from);
  positions const at = positions_of(e.context.numbers, a.first, a.step);
  require_within(e.m, at, shift_kind::cut, a.from, e.operands[0].extent[along], a.to, e.results[0].extent[along]);
  return at;
}
/// The offset of the first of them in operand 0, in elements. errors R10 as above
inline std::int64_t start_of_window(evaluation const& e) {
  view const& x = e.operands[0];
  return window_positions(e).first * x.stride[x.find(strided_window::of(e.n).from)];
}

/// The mesh axes along which ranks exchange elements when a value in placement `x` becomes one in placement `y`. These
/// are the axes that shard the dim at `along`, and those that shard different dims in `x` and `y`. An axis that shards
/// the same dim in both counts, too, if `x` and `y` divide that dim by different axes before it.
constexpr unsigned axes_between(placement const& x, placement const& y, int along) {
  unsigned mask = 0;
  for (int a = 0; a < max_axes; ++a) {
    int const d = x.sharded_at(a);
    bool same = d == y.sharded_at(a) && x.order(a) == y.order(a);
    for (int o = 0; same && d >= 0 && o < x.order(a); ++o) same = x.axis_at(d, o) == y.axis_at(d, o);
    if (!same || (along >= 0 && d == along)) mask |= 1u << a;
  }
  return mask;
}

/// The position of the dim along which a move changes the elements of ranks even if their placement stays the same, or
/// -1 if there is none.
constexpr int changed_dim(shape const& dims, move_attributes const& a) {
  return a.first == no_id && a.from == a.to ? -1 : dims.find(a.from);
}

/// Adds the node that brings `x` to placement `to`, shifted as `a` says. Without a number, only the placement changes.
constexpr value_id add_move(builder& b, value_id x, move_attributes a, placement const& to) {
  value const v = b.m.values[x];
  a.axes = axes_between(v.layout, to, changed_dim(v.dims, a));
  value_id const made =
      b.add(primitive::move, a.function(), ids(&x, 1), v.type, replaced(v.dims, a.from, a.to), a.packed());
  b.m.values[made].layout = to;
  return made;
}

namespace detail {

/// The row of minus a position. A fraction is dropped first, so that a shift there and back changes nothing.
constexpr number_id negative(builder& b, number_id position) {
  number_row const row = b.m.numbers[position];
  if (row.kind == number_row::literal && row.value.is_integer())
    return b.literal(number_value::of_integer(-row.value.integer()));
  if (row.kind != number_row::extent)
    position = b.add_number({number_row::expression, function::floor, position, no_id, 0});
  return b.add_number({number_row::expression, function::negate, position, no_id, 0});
}

/// Partitions a node that shifts its operand. Returns true if the dim is sharded in the operand or in the result.
constexpr bool move_along(auto& p, node const& n, move_attributes const& a) {
  placement const x = p.implied_of(n, 0), y = p.implied_result(n);
  int const place = p.from.operand_value(n, 0).dims.find(a.from);
  if (x.axes_of(place) == 0 && y.axes_of(place) == 0) return false;
  p.gives(n, add_move(p.b, p.placed_operand(n, 0, x), a, y));
  return true;
}

}  // namespace detail
}  // namespace meshtensor
