// SPDX-License-Identifier: Apache-2.0
// Emits put: overwrites a slice or rows of a tensor, at a number or at an index.
#pragma once

#include "meshtensor/emit/stablehlo/looked_up.hpp"
#include "meshtensor/emit/stablehlo/slice.hpp"
#include "meshtensor/op/put.hpp"

namespace meshtensor::hlo {

/// A put of rows that have dims of their own. If several rows have one index, only the last is written, because XLA
/// does not specify the order in which it scatters.
inline value put_rows(emission& e, node const& n) {
  meshtensor::value const& table = e.m.result_value(n);
  shape const &by = e.dims(n, 2), many = without(e.dims(n, 1), table.dims);
  dim_id const dim = put_attributes::of(n).dim;
  int const along = table.dims.find(dim);
  type const t = e.result_type(n);
  value const index = places_in_part(e, e.operand(n, 2), table, along);

  // The number of each row, in the order of the part, and the greatest number at each position.
  type const numbers{"i64", index.type.shape};
  value number = constant(e.w, numbers, 0.0);
  for (int i = 0; i < many.count; ++i) {
    int const place = by.find(many.at[i]);
    std::int64_t const extent = index.type.shape[static_cast<std::size_t>(place)];
    number = binary(e.w, "multiply", {number, constant(e.w, numbers, extent)});
    number = binary(e.w, "add", {number, iota(e.w, numbers, place)});
  }
  meshtensor::value positions = table;
  positions.dims = without(by, many);
  type last_type{"i64", extents_of(positions.dims, by, index.type.shape)};
  positions.dims.add(dim), last_type.shape.push_back(t.shape[static_cast<std::size_t>(along)]);
  fixed_dims const at = fixed_by(e, index, positions, by, positions.dims.count - 1);
  value const last =
      scatter(e, constant(e.w, last_type, -1.0), at, number, by.count, 0, combining(reduction::max, "i64"));

  // Rows that are not the last, or are out of range, get an index out of range.
  value const here = e.w.op(
      "gather", {last, at.positions}, numbers,
      "dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = " + at.sorted() +
          ", start_index_map = [" + list_text(at.places) + "], index_vector_dim = " + std::to_string(at.vector_dim) +
          ">, slice_sizes = " + array_text(extents(last_type.shape.size(), 1)) + ", indices_are_sorted = false");
  value const only = select(e.w, {compare(e.w, "EQ", {here, number}), index, like(e.w, index, -1)});
  auto const [rest, order] = order_of(table.dims, by, dim);
  extents sizes = index.type.shape, of_rest = extents_of(rest, table.dims, t.shape);
  sizes.insert(sizes.end(), of_rest.begin(), of_rest.end());
  std::string const element = type{t.element, {}}.text();
  return scatter(
      e, e.operand(n), fixed_by(e, only, table, by, along), e.laid(e.operand(n, 1), e.dims(n, 1), order, sizes),
      by.count, rest.count,
      "{ ^bb0(%a: " + element + ", %b: " + element + "): \"stablehlo.return\"(%b) : (" + element + ") -> () }");
}

/// A put at a number or at an index. If the dim is sharded, or if the index only has dims of the result, every element
/// compares its position with it.
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

}  // namespace meshtensor::hlo
