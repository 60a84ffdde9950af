// SPDX-License-Identifier: Apache-2.0
// Emits exchanges of rows. Runs of rows have lengths that only a step knows, but StableHLO has no exchange of such runs
// that XLA's CPU can run. Therefore ranks send each other as many rows as there is room for. In total, a rank sends its
// number of rows times the number of ranks, or `at_most` for each group of the others if that is less.
#pragma once

#include "meshtensor/emit/stablehlo/argsort.hpp"
#include "meshtensor/emit/stablehlo/collective.hpp"
#include "meshtensor/op/all_to_all_rows.hpp"

namespace meshtensor::hlo {

/// For each element of `v`, the sum of the elements before it along the first dim.
inline value sums_before(emission& e, value const& v) {
  extents pairs = v.type.shape, later, earlier;
  pairs.insert(pairs.begin(), pairs[0]);  // [later, earlier, …]
  for (std::size_t d = 1; d < pairs.size(); ++d) earlier.push_back(static_cast<std::int64_t>(d));
  type const places{"i64", pairs};
  value const each = spread(e.w, v, earlier, pairs);
  value const is_before = compare(e.w, "LT", {iota(e.w, places, 1), iota(e.w, places, 0)});
  return reduce(e.w, reduction::sum, select(e.w, {is_before, each, like(e.w, each, 0)}), {1});
}
/// The index of the run in which each of `places` [n …] is, or the number of runs if it is behind all of them. `ends`
/// [run] has the ends of the runs, which follow each other.
inline value run_of(emission& e, value const& places, value const& ends) {
  extents both = places.type.shape, kept;
  for (std::size_t d = 0; d < both.size(); ++d) kept.push_back(static_cast<std::int64_t>(d));
  auto const last = static_cast<std::int64_t>(both.size());
  both.push_back(ends.type.shape[0]);
  value const is_behind = compare(e.w, "LE", {spread(e.w, ends, {last}, both), spread(e.w, places, kept, both)});
  return reduce(e.w, reduction::sum, convert(e.w, is_behind, "i64"), {last});
}
/// Row `at[i]` of `rows` [row, …] for each i. If there is no such row, the result has some other row.
inline value rows_at(emission& e, value const& rows, value const& at) {
  type t{rows.type.element, rows.type.shape};
  t.shape[0] = at.type.shape[0];
  extents sizes = rows.type.shape, rest;
  sizes[0] = 1;
  for (std::size_t d = 1; d < sizes.size(); ++d) rest.push_back(static_cast<std::int64_t>(d));
  return e.w.op("gather", {rows, at}, t,
                "dimension_numbers = #stablehlo.gather<offset_dims = [" + list_text(rest) +
                    "], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = " +
                    array_text(sizes) + ", indices_are_sorted = false");
}
/// The rows for which `is_there` is true, with zeros in place of the others.
inline value rows_where(emission& e, value const& is_there, value const& rows) {
  return select(e.w, {spread(e.w, is_there, {0}, rows.type.shape), rows, like(e.w, rows, 0)});
}
inline value reshaped(emission& e, value const& x, extents const& shape) {
  return x.type.shape == shape ? x : e.w.op("reshape", {x}, {x.type.element, shape});
}

/// The elements of an index in one dim, i64, and whether each is one of `count` groups. Other elements become `count`.
struct flat_index {
  value groups, is_there;

  flat_index(emission& e, value const& index, std::int64_t count)
      : groups(convert(e.w, reshaped(e, index, {product(index.type.shape)}), "i64")),
        is_there(binary(e.w, "and",
                        {compare(e.w, "GE", {groups, like(e.w, groups, 0)}),
                         compare(e.w, "LT", {groups, like(e.w, groups, count)})})) {
    groups = select(e.w, {is_there, groups, like(e.w, groups, count)});
  }
};

inline value count_rows(emission& e, node const& n) {
  type const t = e.result_type(n);
  std::int64_t const groups = t.shape[1], all = product(e.operand(n).type.shape);
  value const index = flat_index(e, e.operand(n), groups).groups;
  type const pairs{"i64", {all, groups}};
  value const named = compare(e.w, "EQ", {spread(e.w, index, {0}, pairs.shape), iota(e.w, pairs, 1)});
  return reshaped(e, reduce(e.w, reduction::sum, convert(e.w, named, "i32"), {0}), t.shape);
}

/// Runs are ordered by group, and those of one group by the rank that they come from.
inline value number_rows(emission& e, node const& n) {
  type const t = e.result_type(n);
  value const counts = transpose(e.w, convert(e.w, e.operand(n), "i64"), {1, 0});
  std::int64_t const runs = product(counts.type.shape), ranks = counts.type.shape[1];
  value const by_run = reshaped(e, counts, {runs});
  value const ends = binary(e.w, "add", {sums_before(e, by_run), by_run});
  value const run = run_of(e, iota(e.w, {"i64", {product(t.shape)}}, 0), ends);
  value group = binary(e.w, "divide", {run, like(e.w, run, ranks)});
  if (auto const first = e.origin(e.m.operand_value(n, 0), 1))
    group = binary(e.w, "add", {group, fill(e.w, *first, group.type.shape)});
  value const is_there = compare(e.w, "LT", {run, like(e.w, run, runs)});
  return reshaped(e, select(e.w, {is_there, group, like(e.w, group, -1)}), t.shape);
}

inline value send_rows(emission& e, node const& n) {
  type const t = e.result_type(n);
  shape const &of_x = e.dims(n), &of_index = e.dims(n, 1);
  flat_index const index(e, e.operand(n, 1), e.operand(n, 2).type.shape[1]);
  std::int64_t const all = index.groups.type.shape[0], room = t.shape[1];
  extents const rest = extents_of(without(of_x, of_index), of_x, e.operand(n).type.shape);
  extents wide = e.operand(n, 1).type.shape, flat{all};
  wide.insert(wide.end(), rest.begin(), rest.end()), flat.insert(flat.end(), rest.begin(), rest.end());
  value const rows = reshaped(e, e.laid(e.operand(n), of_x, united(of_index, without(of_x, of_index)), wide), flat);
  // If there is more room than this rank has rows, the rest of it has zeros.
  value const places = iota(e.w, {"i64", {room}}, 0);
  value const from = rows_at(e, sorted_positions(e, index.groups, 0), places);
  value const given = reduce(e.w, reduction::sum, convert(e.w, index.is_there, "i64"), {0});
  value const is_there = compare(e.w, "LT", {places, fill(e.w, given, {room})});
  return reshaped(e, rows_where(e, is_there, rows_at(e, rows, from)), t.shape);
}

/// The rows [rows, …] of a value with the dim `from` of rows, where one rank holds all. The other dims stay in their
/// order.
inline value rows_of(emission& e, value const& x, shape const& dims, dim_id holders, dim_id from) {
  shape const order = united(shape{}.add(holders).add(from), dims);
  extents rows = extents_of(order, dims, x.type.shape);
  value const laid = e.laid(x, dims, order, rows);
  rows.erase(rows.begin());
  return reshaped(e, laid, rows);
}

inline value back_rows(emission& e, node const& n) {
  auto const a = all_to_all_rows_attributes::of(n);
  flat_index const index(e, e.operand(n, 1), e.operand(n, 2).type.shape[1]);
  value const rows = rows_of(e, e.operand(n), e.dims(n), a.holders, a.rows);
  value const place = sorted_positions(e, sorted_positions(e, index.groups, 0), 0);
  return reshaped(e, rows_where(e, index.is_there, rows_at(e, rows, place)), e.result_type(n).shape);
}

inline value all_to_all_rows(emission& e, node const& n) {
  switch (all_to_all_rows_rule::step_of(n)) {
    case row_step::count: return count_rows(e, n);
    case row_step::number: return number_rows(e, n);
    case row_step::send: return send_rows(e, n);
    case row_step::back: return back_rows(e, n);
  }
  e.refuse(n, text_of(n.kind));
}

}  // namespace meshtensor::hlo
