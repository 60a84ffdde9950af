// SPDX-License-Identifier: Apache-2.0
// Emits a concatenation.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/concat.hpp"

namespace meshtensor::hlo {

inline value concat(emission& e, node const& n) {
  return e.w.op("concatenate", {e.operand(n), e.operand(n, 1)}, e.result_type(n),
                "dimension = " + std::to_string(e.result_dims(n).find(concat_attributes::of(n).to)) + " : i64");
}

}  // namespace meshtensor::hlo
