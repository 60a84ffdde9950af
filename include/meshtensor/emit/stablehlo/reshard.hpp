// SPDX-License-Identifier: Apache-2.0
// Emits reshard. Its operand is whole on every rank, because a change of placement is a collective.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

inline value reshard(emission& e, node const& n) { return e.operand(n); }

}  // namespace meshtensor::hlo
