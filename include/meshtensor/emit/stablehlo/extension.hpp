// SPDX-License-Identifier: Apache-2.0
// Refuses the operations that are declared outside of the library, because their rules have no StableHLO.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// errors  R01
inline value extension(emission& e, node const& n) { e.refuse_own(n); }

}  // namespace meshtensor::hlo
