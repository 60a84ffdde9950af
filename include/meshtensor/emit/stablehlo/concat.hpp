// SPDX-License-Identifier: Apache-2.0
// Emits a concatenation.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/concat.hpp"

namespace meshtensor::hlo {

inline value concat(emission& e, node const& n) {
  int const along = e.result_dims(n).find(concat_attributes::of(n).to);
  return concatenate(e.w, {e.operand(n), e.operand(n, 1)}, static_cast<std::size_t>(along));
}

}  // namespace meshtensor::hlo
