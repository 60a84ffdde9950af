// SPDX-License-Identifier: Apache-2.0
// Emits an einsum in which an index chooses the matrix of each row.
#pragma once

#include "meshtensor/emit/stablehlo/looked_up.hpp"
#include "meshtensor/emit/stablehlo/product.hpp"
#include "meshtensor/op/grouped_einsum.hpp"

namespace meshtensor::hlo {

/// Emits an einsum with a mask of rows and groups. Therefore it costs as many times the arithmetic as there are groups.
inline value grouped_einsum(emission& e, node const& n) {
  int const groups = grouped_einsum_attributes::of(n).groups;
  int const with = e.dims(n, 0).has(groups) ? 0 : e.dims(n, 1).has(groups) ? 1 : 2;
  value_id const table_id = with == 2 ? e.m.result(n) : e.m.operand(n, with);
  meshtensor::value const& table = e.m.values[table_id];
  int const along = table.dims.find(groups);
  value const index = places_in_part(e, e.operand(n, 2), table, along);
  shape const by = e.dims(n, 2), both = shape(by).add(groups);
  extents sizes = index.type.shape, one;
  one.push_back(e.type_of(table_id).shape[static_cast<std::size_t>(along)]);
  sizes.push_back(one[0]);
  value const asked = e.laid(index, by, both, sizes);
  value const place = e.laid(iota(e.w, {index.type.element, one}, 0), shape{}.add(groups), both, sizes);
  value const mask = convert(e.w, compare(e.w, "EQ", {asked, place}), e.result_type(n).element);
  int const rows = with == 0 ? 1 : 0, other = 1 - rows;
  return product(e, n, {{e.operand(n, rows), e.dims(n, rows)}, {mask, both}, {e.operand(n, other), e.dims(n, other)}});
}

}  // namespace meshtensor::hlo
