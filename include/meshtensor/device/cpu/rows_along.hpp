// SPDX-License-Identifier: Apache-2.0
// Finds the rows of a dense tensor along one of its dims: where each row begins, and the distance between its elements.
#pragma once

#include <cstdint>

#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cpu {

/// `outer` blocks of `count` times `inner` elements. A row has `count` elements, which are `inner` apart.
struct rows_along {
  std::int64_t outer = 1, count = 1, inner = 1;

  rows_along(view const& dense, int dim) {
    int const along = dense.find(dim);
    for (int i = 0; i < dense.count; ++i) (i < along ? outer : i > along ? inner : count) *= dense.extent[i];
  }
  std::int64_t number() const { return outer * inner; }
  /// The offset of the first element of row `r`.
  std::int64_t begin(std::int64_t r) const { return r / inner * count * inner + r % inner; }
};

}  // namespace meshtensor::cpu
