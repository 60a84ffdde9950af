// SPDX-License-Identifier: Apache-2.0
// Runs iota on the GPU.
#pragma once

#include "meshtensor/device/cuda/nodes/position_sequence.hpp"

namespace meshtensor::cuda {

inline node_work iota_of(preparation& p, view const& y) { return detail::sequence_of(p, y, "a.n[1] + i"); }

}  // namespace meshtensor::cuda
