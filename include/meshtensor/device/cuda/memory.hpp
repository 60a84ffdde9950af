// SPDX-License-Identifier: Apache-2.0
// Owns memory of a GPU, and memory of the host for copies from and to the GPU.
#pragma once

#include "meshtensor/device/cuda/gpu.hpp"
#include "meshtensor/device/owned_memory.hpp"

namespace meshtensor::cuda {

using device_memory = owned_memory<gpu>;
using host_memory = owned_host_memory<gpu>;

}  // namespace meshtensor::cuda
