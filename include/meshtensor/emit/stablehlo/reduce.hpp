// SPDX-License-Identifier: Apache-2.0
// Emits a reduction.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

inline value reduce(emission& e, node const& n) {
  return reduce(e.w, static_cast<reduction>(n.function), e.operand(n), lost(e.dims(n), e.result_dims(n)));
}

}  // namespace meshtensor::hlo
