// SPDX-License-Identifier: Apache-2.0
// Runs stack on the GPU by a copy of each operand.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/op/stack.hpp"

namespace meshtensor::cuda {

inline node_work stack_of(node_setup const& s) {
  constexpr auto none = id{no_id};
  return [&copier = s.copier](recording& to_do, evaluation const& e, address, address) {
    view row = e.results[0];
    int const along = row.find(stack_attributes::of(e.n).dim);
    row.extent[along] = 1;
    for (int k = 0; k < e.n.operands.count; ++k)
      copier.by_name(to_do, e.operands[k], 0, row, k * row.stride[along], none, none, row.extent);
  };
}

}  // namespace meshtensor::cuda
