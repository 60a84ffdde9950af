// SPDX-License-Identifier: Apache-2.0
// Emits stack.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/stack.hpp"

namespace meshtensor::hlo {

/// Emits a concatenation, for which each operand gets the new dim with extent 1.
inline value stack(emission& e, node const& n) {
  shape const& dims = e.result_dims(n);
  auto const along = static_cast<std::size_t>(dims.find(stack_attributes::of(n).dim));
  extents row = e.result_type(n).shape;
  row[along] = 1;
  std::vector<value> rows;
  for (int k = 0; k < n.operands.count; ++k) rows.push_back(e.laid(e.operand(n, k), e.dims(n, k), dims, row));
  return concatenate(e.w, rows, along);
}

}  // namespace meshtensor::hlo
