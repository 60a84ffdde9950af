// SPDX-License-Identifier: Apache-2.0
// Gives the iteration of a loop on the GPU.
#pragma once

#include "meshtensor/device/cuda/nodes/position_sequence.hpp"

namespace meshtensor::cuda {

inline node_work iteration_of(preparation& p, view const& y) { return detail::sequence_of(p, y, "a.index"); }

}  // namespace meshtensor::cuda
