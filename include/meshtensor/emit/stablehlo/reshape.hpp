// SPDX-License-Identifier: Apache-2.0
// Emits a reshape.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

inline value reshape(emission& e, node const& n) { return e.w.op("reshape", {e.operand(n)}, e.result_type(n)); }

}  // namespace meshtensor::hlo
