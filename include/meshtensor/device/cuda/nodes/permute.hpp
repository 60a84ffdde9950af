// SPDX-License-Identifier: Apache-2.0
// Runs permute on the GPU as a gather of the rows that the sources name.
#pragma once

#include "meshtensor/device/cuda/nodes/gather.hpp"
#include "meshtensor/op/permute.hpp"

namespace meshtensor::cuda {

inline node_work permute_of(node_setup const& s) {
  return gathered_rows(s, permute_rule::as_gathered(s.n, s.operands[1], s.result), permute_attributes::of(s.n).dim);
}

}  // namespace meshtensor::cuda
