// SPDX-License-Identifier: Apache-2.0
// The number of elements along dims, as a row of the table of numbers.
#pragma once

#include "meshtensor/graph/builder.hpp"
#include "meshtensor/op/constant.hpp"

namespace meshtensor {

/// The number of elements along a dim, and along several dims. A mean divides by it.
constexpr number_row extent_row(int dim) {
  return {number_row::extent, function::copy, static_cast<id>(dim), no_id, 0};
}
constexpr number_id extent_product(builder& b, shape const& dims) {
  number_id row = b.literal(1);
  for (int i = 0; i < dims.count; ++i) {
    number_id const next = b.add_number(extent_row(dims.at[i]));
    row = i == 0 ? next : b.add_number({number_row::expression, function::multiply, row, next, 0});
  }
  return row;
}

}  // namespace meshtensor
