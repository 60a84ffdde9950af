// SPDX-License-Identifier: Apache-2.0
// Emits concatenations, updates of slices, and table lookups.
#pragma once

#include "meshtensor/emit/stablehlo/slices.hpp"
#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/lookup.hpp"
#include "meshtensor/op/put.hpp"

namespace meshtensor::hlo {

inline value concat(emission& e, node const& n) {
  return e.w.op("concatenate", {e.operand(n), e.operand(n, 1)}, e.result_type(n),
                "dimension = " + std::to_string(e.result_dims(n).find(concat_attributes::of(n).to)) + " : i64");
}

inline value put_rows(emission& e, node const& n);
/// A put at a number or at an index. If the dim is sharded, or the index has no dims but those of the result, every
/// element compares its position with it.
inline value put(emission& e, node const& n) {
  put_attributes const a = put_attributes::of(n);
  type const t = e.result_type(n);
  bool const at_index = put_rule::at_index(n);
  int const along = e.result_dims(n).find(a.dim);
  auto const known = at_index ? std::optional(number_value(0)) : e.known(a.position);
  if (known) put_rule::require_within(e.m, whole_number(*known), a.dim, e.b.extent[a.dim]);
  if (at_index || e.origin(e.m.result_value(n), along)) {
    shape const& of_part = e.dims(n, 1);
    if (without(of_part, e.result_dims(n)).count != 0) return put_rows(e, n);
    value const here = e.positions(e.m.result_value(n), along, {"i64", t.shape}, along);
    value const place = at_index ? e.laid(convert(e.w, e.operand(n, 2), "i64"), e.dims(n, 2), e.result_dims(n), t.shape)
                                 : fill(e.w, e.number(n, a.position, "i64"), t.shape);
    value const part = e.laid(e.operand(n, 1), of_part, e.result_dims(n), t.shape);
    return select(e.w, {compare(e.w, "EQ", {here, place}), part, e.operand(n)});
  }
  extents sizes = t.shape;
  auto const k = static_cast<std::size_t>(along);
  sizes[k] = 1;
  return updated(e, e.operand(n), e.laid(e.operand(n, 1), e.dims(n, 1), e.result_dims(n), sizes), k,
                 e.number(n, a.position, "i64"));
}

/// The position of the greatest element, the lowest one among equals; nan is greater than any number.
inline value argmax(emission& e, node const& n) {
  int const along = e.dims(n).find(argmax_attributes::of(n).dim);
  value const x = e.operand(n);
  value const most = e.laid(reduce(e.w, reduction::max, x, {along}), e.result_dims(n), e.dims(n), x.type.shape);
  value const place = iota(e.w, {"i64", x.type.shape}, along);
  value const none = like(e.w, place, static_cast<double>(x.type.shape[static_cast<std::size_t>(along)]));
  value hit = compare(e.w, "EQ", {x, most});
  if (meshtensor::is_float(e.m.operand_value(n, 0).type))  // if one is nan, so is the greatest, and nan equals nothing
    hit = binary(e.w, "or", {hit, compare(e.w, "NE", {x, x})});
  return reduce(e.w, reduction::min, select(e.w, {hit, place, none}), {along});
}

// ---- lookup ----

/// Indices into a table, as positions in this rank's shard of it.
inline value places_in_part(emission& e, value index, meshtensor::value const& table, int along) {
  if (index.type.element == "ui8") index = convert(e.w, index, "i32");
  auto const first = e.origin(table, along);
  if (!first) return index;
  return binary(e.w, "subtract", {index, fill(e.w, convert(e.w, *first, index.type.element), index.type.shape)});
}
/// The dims of a table that a lookup fixes: those that the index has, too, and then the one that it indexes; and for
/// each row of the index its positions there, as the last dim of a tensor.
struct fixed_dims {
  extents places;
  value positions;
  std::int64_t vector_dim;  // of `positions`; behind the last dim: each position is one number

  std::string sorted() const {
    extents all = places;
    std::sort(all.begin(), all.end());
    return "[" + list_text(all) + "]";
  }
};
inline fixed_dims fixed_by(emission& e, value const& index, meshtensor::value const& table, shape const& by,
                           int along) {
  fixed_dims f{{}, index, by.count};
  std::vector<value> columns;
  extents column = index.type.shape, all = column;
  column.push_back(1);
  auto const add = [&](int place, value const& v) {
    f.places.push_back(place);
    columns.push_back(e.w.op("reshape", {v}, {v.type.element, column}));
  };
  for (int i = 0; i < by.count; ++i)
    if (int const place = table.dims.find(by.at[i]); place >= 0) add(place, iota(e.w, index.type, i));
  if (columns.empty()) {
    f.places = {along};
    return f;
  }
  add(along, index);
  all.push_back(static_cast<std::int64_t>(columns.size()));
  f.positions =
      e.w.op("concatenate", columns, {index.type.element, all}, "dimension = " + std::to_string(by.count) + " : i64");
  return f;
}

inline value gather(emission& e, node const& n) {
  meshtensor::value const& table = e.m.operand_value(n, 0);
  shape const& by = e.dims(n, 1);
  int const along = table.dims.find(lookup_attributes::of(n).dim);
  value const index = places_in_part(e, e.operand(n, 1), table, along);
  fixed_dims const fixed = fixed_by(e, index, table, by, along);
  extents sizes = e.operand(n).type.shape, rest;
  auto const rows = static_cast<double>(sizes[static_cast<std::size_t>(along)]);
  for (std::int64_t place : fixed.places) sizes[static_cast<std::size_t>(place)] = 1;
  for (int i = 0; i < table.dims.count - static_cast<int>(fixed.places.size()); ++i) rest.push_back(by.count + i);
  // StableHLO puts the dims of the index first, then the others of the table.
  shape const order = united(by, without(table.dims, shape{}.add(lookup_attributes::of(n).dim)));
  type const t = e.result_type(n);
  type in_order{t.element, {}};
  for (int i = 0; i < order.count; ++i)
    in_order.shape.push_back(t.shape[static_cast<std::size_t>(e.result_dims(n).find(order.at[i]))]);
  value const gathered =
      e.w.op("gather", {e.operand(n), fixed.positions}, in_order,
             "dimension_numbers = #stablehlo.gather<offset_dims = [" + list_text(rest) +
                 "], collapsed_slice_dims = " + fixed.sorted() + ", start_index_map = [" + list_text(fixed.places) +
                 "], index_vector_dim = " + std::to_string(fixed.vector_dim) + ">, slice_sizes = " + array_text(sizes) +
                 ", indices_are_sorted = false");
  value const found = e.laid(gathered, order, e.result_dims(n), t.shape);
  // The gather clamps indices: rows out of range become zeros.
  value const here =
      binary(e.w, "and",
             {compare(e.w, "LE", {like(e.w, index, 0), index}), compare(e.w, "LT", {index, like(e.w, index, rows)})});
  return select(e.w, {e.laid(here, by, e.result_dims(n), found.type.shape), found, like(e.w, found, 0)});
}

/// The dims of a table that a lookup does not fix, and the order in which StableHLO wants the rows of a scatter.
struct scattered {
  shape rest, order;
};
inline scattered order_of(shape const& table, shape const& by, dim_id along) {
  shape const rest = without(without(table, shape{}.add(along)), by);
  return {rest, united(by, rest)};
}
/// Combines rows with those of `into`, one for each position; rows out of range are dropped.
inline value scatter(emission& e, value const& into, fixed_dims const& fixed, value const& rows, int dims_of_index,
                     int dims_of_row, std::string const& region) {
  extents window;
  for (int i = 0; i < dims_of_row; ++i) window.push_back(dims_of_index + i);
  return e.w.op("scatter", {into, fixed.positions, rows}, into.type,
                "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [" + list_text(window) +
                    "], inserted_window_dims = " + fixed.sorted() + ", scatter_dims_to_operand_dims = [" +
                    list_text(fixed.places) + "], index_vector_dim = " + std::to_string(fixed.vector_dim) +
                    ">, indices_are_sorted = false, unique_indices = false",
                region);
}

inline value scatter_add(emission& e, node const& n) {
  meshtensor::value const& sum = e.m.result_value(n);
  shape const& by = e.dims(n, 1);
  dim_id const dim = lookup_attributes::of(n).dim;
  auto const [rest, order] = order_of(sum.dims, by, dim);
  shape const left = without(e.dims(n), without(e.dims(n), order));
  value rows = reduce(e.w, reduction::sum, e.operand(n), lost(e.dims(n), order));
  extents sizes;
  for (int i = 0; i < order.count; ++i)
    sizes.push_back(rows.type.shape[static_cast<std::size_t>(left.find(order.at[i]))]);
  rows = e.laid(rows, left, order, sizes);
  int const along = sum.dims.find(dim);
  value const index = places_in_part(e, e.operand(n, 1), sum, along);
  type const t = e.result_type(n);
  return scatter(e, constant(e.w, t, 0.0), fixed_by(e, index, sum, by, along), rows, by.count, rest.count,
                 combining(reduction::sum, t.element));
}

/// A put of rows that dims of their own enumerate. Of those with one index only the last is written: XLA does not say
/// in which order it scatters.
inline value put_rows(emission& e, node const& n) {
  meshtensor::value const& table = e.m.result_value(n);
  shape const &by = e.dims(n, 2), many = without(e.dims(n, 1), table.dims);
  dim_id const dim = put_attributes::of(n).dim;
  int const along = table.dims.find(dim);
  type const t = e.result_type(n);
  value const index = places_in_part(e, e.operand(n, 2), table, along);

  // The number of each row, in the order of the part; and the greatest one at each position.
  type const numbers{"i64", index.type.shape};
  value number = constant(e.w, numbers, 0.0);
  for (int i = 0; i < many.count; ++i) {
    int const place = by.find(many.at[i]);
    auto const extent = static_cast<double>(index.type.shape[static_cast<std::size_t>(place)]);
    number = binary(e.w, "multiply", {number, constant(e.w, numbers, extent)});
    number = binary(e.w, "add", {number, iota(e.w, numbers, place)});
  }
  meshtensor::value positions = table;
  positions.dims = without(by, many);
  type last_type{"i64", {}};
  for (int i = 0; i < positions.dims.count; ++i)
    last_type.shape.push_back(index.type.shape[static_cast<std::size_t>(by.find(positions.dims.at[i]))]);
  positions.dims.add(dim), last_type.shape.push_back(t.shape[static_cast<std::size_t>(along)]);
  fixed_dims const at = fixed_by(e, index, positions, by, positions.dims.count - 1);
  value const last =
      scatter(e, constant(e.w, last_type, -1.0), at, number, by.count, 0, combining(reduction::max, "i64"));

  // Rows that are not the last, or out of range, get an index that is out of range.
  value const here = e.w.op(
      "gather", {last, at.positions}, numbers,
      "dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = " + at.sorted() +
          ", start_index_map = [" + list_text(at.places) + "], index_vector_dim = " + std::to_string(at.vector_dim) +
          ">, slice_sizes = " + array_text(extents(last_type.shape.size(), 1)) + ", indices_are_sorted = false");
  value const only = select(e.w, {compare(e.w, "EQ", {here, number}), index, like(e.w, index, -1)});
  auto const [rest, order] = order_of(table.dims, by, dim);
  extents sizes = index.type.shape;
  for (int i = 0; i < rest.count; ++i) sizes.push_back(t.shape[static_cast<std::size_t>(table.dims.find(rest.at[i]))]);
  std::string const element = type{t.element, {}}.text();
  return scatter(
      e, e.operand(n), fixed_by(e, only, table, by, along), e.laid(e.operand(n, 1), e.dims(n, 1), order, sizes),
      by.count, rest.count,
      "{ ^bb0(%a: " + element + ", %b: " + element + "): \"stablehlo.return\"(%b) : (" + element + ") -> () }");
}

}  // namespace meshtensor::hlo
