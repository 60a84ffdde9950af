// SPDX-License-Identifier: Apache-2.0
// Adds zeros with the dims and dtype of a value, as its cotangent.
#pragma once

#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/constant.hpp"

namespace meshtensor::detail {

constexpr value_id zeros_like(builder& b, value_id v) {
  value_id const zero = constant(b, 0, b.m.values[v].type);
  return b.m.values[v].dims.count == 0 ? zero : broadcast(b, zero, b.m.values[v].dims);
}

}  // namespace meshtensor::detail
