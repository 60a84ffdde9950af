// SPDX-License-Identifier: Apache-2.0
// Gives the iteration of a loop on the GPU.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/nodes/position_sequence.hpp"

namespace meshtensor::cuda {

inline node_work iteration_of(node_setup const& s) { return detail::sequence_of(s.p, s.result, "a.index"); }

}  // namespace meshtensor::cuda
