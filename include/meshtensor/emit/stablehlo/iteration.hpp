// SPDX-License-Identifier: Apache-2.0
// Emits the index of the iteration of the innermost loop.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

inline value iteration(emission& e, node const&) { return e.index; }

}  // namespace meshtensor::hlo
