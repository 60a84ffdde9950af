// SPDX-License-Identifier: Apache-2.0
// Emits an einsum.
#pragma once

#include "meshtensor/emit/stablehlo/product.hpp"

namespace meshtensor::hlo {

inline value einsum(emission& e, node const& n) {
  std::vector<factor> factors;
  for (int i = 0; i < n.operands.count; ++i) factors.push_back({e.operand(n, i), e.dims(n, i)});
  return product(e, n, factors);
}

}  // namespace meshtensor::hlo
