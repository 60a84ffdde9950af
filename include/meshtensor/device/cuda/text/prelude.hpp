// SPDX-License-Identifier: Apache-2.0
// The CUDA text in front of all kernels: element types, scalar functions, random numbers and reductions of a block.
// They have the arithmetic of the reference loops (op/detail/scalar.hpp, base/philox.hpp).
#pragma once

#include <string>

#include "meshtensor/device/cuda/text/prelude/element_types.hpp"
#include "meshtensor/device/cuda/text/prelude/elementary_functions.hpp"
#include "meshtensor/device/cuda/text/prelude/random_numbers.hpp"
#include "meshtensor/device/cuda/text/prelude/reductions.hpp"
#include "meshtensor/device/cuda/text/prelude/scalar_functions.hpp"

namespace meshtensor::cuda {

/// The text behind `basic_types` and `elementary_functions`.
inline std::string prelude() { return std::string(element_types) + scalar_functions + random_numbers + reductions; }

}  // namespace meshtensor::cuda
