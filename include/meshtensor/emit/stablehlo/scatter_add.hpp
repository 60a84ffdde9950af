// SPDX-License-Identifier: Apache-2.0
// Emits a scatter_add, which adds rows into zeros.
#pragma once

#include "meshtensor/emit/stablehlo/looked_up.hpp"
#include "meshtensor/op/scatter_add.hpp"

namespace meshtensor::hlo {

inline value scatter_add(emission& e, node const& n) {
  meshtensor::value const& sum = e.m.result_value(n);
  shape const& by = e.dims(n, 1);
  dim_id const dim = lookup_attributes::of(n).dim;
  auto const [rest, order] = order_of(sum.dims, by, dim);
  shape const left = common(e.dims(n), order);
  value rows = reduce(e.w, reduction::sum, e.operand(n), lost(e.dims(n), order));
  rows = e.laid(rows, left, order, extents_of(order, left, rows.type.shape));
  int const along = sum.dims.find(dim);
  value const index = places_in_part(e, e.operand(n, 1), sum, along);
  type const t = e.result_type(n);
  return scatter(e, constant(e.w, t, 0.0), fixed_by(e, index, sum, by, along), rows, by.count, rest.count,
                 combining(reduction::sum, t.element));
}

}  // namespace meshtensor::hlo
