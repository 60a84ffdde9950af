// SPDX-License-Identifier: Apache-2.0
// The positions of an index in gathers, scatters and puts of rows, and the scatter of StableHLO.
#pragma once

#include <algorithm>

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/detail/lookup.hpp"
#include "meshtensor/op/iota.hpp"

namespace meshtensor::hlo {

/// Indices into a table, as positions in this rank's shard of it.
inline value places_in_part(emission& e, value index, meshtensor::value const& table, int along) {
  if (index.type.element == "ui8") index = convert(e.w, index, "i32");
  auto const first = e.origin(table, along);
  if (!first) return index;
  return binary(e.w, "subtract", {index, fill(e.w, convert(e.w, *first, index.type.element), index.type.shape)});
}
/// The dims of a table that a lookup fixes. They are the dims that the index has, too, and then the dim that it
/// indexes. `positions` has, in its last dim, the position along each of them for each element of the index.
struct fixed_dims {
  extents places;
  value positions;
  std::int64_t vector_dim;  // of `positions`; behind its last dim if each position is one number

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
  extents column = index.type.shape;
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
  f.positions = concatenate(e.w, columns, static_cast<std::size_t>(by.count));
  return f;
}

/// The dims of a table that a lookup does not fix, and the order that StableHLO requires for the rows of a scatter.
struct scattered {
  shape rest, order;
};
inline scattered order_of(shape const& table, shape const& by, dim_id along) {
  shape const rest = without(without(table, shape{}.add(along)), by);
  return {rest, united(by, rest)};
}
/// Combines rows with rows of `into`, one for each position. Rows out of range are dropped.
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

}  // namespace meshtensor::hlo
