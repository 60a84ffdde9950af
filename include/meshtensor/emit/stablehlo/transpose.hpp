// SPDX-License-Identifier: Apache-2.0
// Emits transpose and broadcast, both by the names of dims.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

inline value transpose(emission& e, node const& n) { return e.laid(n, 0); }

}  // namespace meshtensor::hlo
