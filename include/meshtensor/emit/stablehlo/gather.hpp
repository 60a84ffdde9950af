// SPDX-License-Identifier: Apache-2.0
// Emits a gather: the rows of a table at the positions of an index.
#pragma once

#include "meshtensor/emit/stablehlo/looked_up.hpp"
#include "meshtensor/op/gather.hpp"

namespace meshtensor::hlo {

inline value gather(emission& e, node const& n) {
  meshtensor::value const& table = e.m.operand_value(n, 0);
  shape const& by = e.dims(n, 1);
  int const along = table.dims.find(lookup_attributes::of(n).dim);
  value const index = places_in_part(e, e.operand(n, 1), table, along);
  fixed_dims const fixed = fixed_by(e, index, table, by, along);
  extents sizes = e.operand(n).type.shape, rest;
  std::int64_t const rows = sizes[static_cast<std::size_t>(along)];
  for (std::int64_t place : fixed.places) sizes[static_cast<std::size_t>(place)] = 1;
  for (int i = 0; i < table.dims.count - static_cast<int>(fixed.places.size()); ++i) rest.push_back(by.count + i);
  // StableHLO puts the dims of the index first, and the others of the table behind them.
  shape const order = united(by, without(table.dims, shape{}.add(lookup_attributes::of(n).dim)));
  type const t = e.result_type(n);
  value const gathered =
      e.w.op("gather", {e.operand(n), fixed.positions}, {t.element, extents_of(order, e.result_dims(n), t.shape)},
             "dimension_numbers = #stablehlo.gather<offset_dims = [" + list_text(rest) +
                 "], collapsed_slice_dims = " + fixed.sorted() + ", start_index_map = [" + list_text(fixed.places) +
                 "], index_vector_dim = " + std::to_string(fixed.vector_dim) + ">, slice_sizes = " + array_text(sizes) +
                 ", indices_are_sorted = false");
  value const found = e.laid(gathered, order, e.result_dims(n), t.shape);
  // The gather clamps indices, so rows out of range are replaced by zeros.
  value const here =
      binary(e.w, "and",
             {compare(e.w, "LE", {like(e.w, index, 0), index}), compare(e.w, "LT", {index, like(e.w, index, rows)})});
  return select(e.w, {e.laid(here, by, e.result_dims(n), found.type.shape), found, like(e.w, found, 0)});
}

}  // namespace meshtensor::hlo
