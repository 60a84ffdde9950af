// SPDX-License-Identifier: Apache-2.0
// The blocks of a product and their dims in the order that its matrices need.
#pragma once

#include <cstdint>

#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cuda::detail {

/// The operands A and B and the result C of a product, each as it is or packed.
struct packed_blocks {
  view original[3], packed[3];
  std::int64_t packed_bytes[3] = {};  // 0 for a block that is not packed

  int role(int dim) const {  // 0 for batch, 1 for rows, 2 for columns, 3 for summed dims
    bool const in_a = original[0].find(dim) >= 0, in_b = original[1].find(dim) >= 0, in_c = original[2].find(dim) >= 0;
    return !in_c ? 3 : in_a && in_b ? 0 : in_a ? 1 : 2;
  }
  /// Packs a block with batch dims first, then the dims of role `outer`, then those of role `inner`. They have the
  /// order of C, and summed dims have the order of A.
  void pack(int k, int outer, int inner) {
    view const from = original[k];
    view& to = packed[k];
    to.count = 0;
    for (int const r : {0, outer, inner}) {
      view const& order = r == 3 ? original[0] : original[2];
      for (int i = 0; i < order.count; ++i)
        if (int const p = from.find(order.dim[i]); p >= 0 && role(order.dim[i]) == r)
          to.dim[to.count] = from.dim[p], to.origin[to.count] = from.origin[p], to.total[to.count] = from.total[p],
          to.extent[to.count++] = from.extent[p];
    }
    to.densify();
    packed_bytes[k] = (to.bytes() + 255) / 256 * 256;
  }
};

}  // namespace meshtensor::cuda::detail
