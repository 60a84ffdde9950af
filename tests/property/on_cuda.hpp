// SPDX-License-Identifier: Apache-2.0
// Runs one program on mt::cuda_device, with kernels that the host's compiler makes of the text for a GPU, or on a GPU.
#pragma once

#include "meshtensor/device/cuda/device.hpp"
#include "property/under_layout.hpp"
#include "support/gpu_of_tests.hpp"

namespace property {

using stand_in = meshtensor_test::gpu_of_tests;

/// Runs a program under a layout, and compares every part of outputs and variables with what the interpreter gave.
inline outcome_of_layout on_cuda(subject const& s, mt::module const& traced, mt::name const& entry,
                                 std::vector<mt::dim_extent> const& extents, mt::mesh_shape const& mesh,
                                 mt::layout_rules const& rules) {
  return under<mt::cuda_device>(s, traced, entry, extents, mesh, rules);
}

}  // namespace property
