// SPDX-License-Identifier: Apache-2.0
// Declares the node for which a function of this folder prepares the work on the GPU. Each operation that the GPU runs
// by a node of its own has a function of this form in the file of its name:
//
//     node_work gather_of(node_setup const&);  // none if the node is too large
#pragma once

#include "meshtensor/device/cuda/box_copier.hpp"
#include "meshtensor/device/cuda/recording.hpp"

namespace meshtensor::cuda {

/// A node with views of its operands and its first result, before the first step. Extents and strides are final, but
/// addresses may change until the node runs.
struct node_setup {
  preparation& p;
  box_copier const& copier;
  node const& n;
  view const* operands;
  view const& result;
  /// The alignment of the addresses of the first two operands and of the result, in bytes.
  int alignment[3];
};

}  // namespace meshtensor::cuda
