// SPDX-License-Identifier: Apache-2.0
// Runs iota on the GPU.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/nodes/position_sequence.hpp"

namespace meshtensor::cuda {

inline node_work iota_of(node_setup const& s) { return detail::sequence_of(s.p, s.result, "a.n[1] + i"); }

}  // namespace meshtensor::cuda
