// SPDX-License-Identifier: Apache-2.0
// Emits rename, which is the operand, because StableHLO has no names of dims.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

inline value rename(emission& e, node const& n) { return e.operand(n); }

}  // namespace meshtensor::hlo
