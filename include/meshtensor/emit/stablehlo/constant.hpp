// SPDX-License-Identifier: Apache-2.0
// Emits a number. If it is not known before the first step, it is an argument of the program.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/constant.hpp"

namespace meshtensor::hlo {

inline value constant(emission& e, node const& n) {
  number_id const row = constant_attributes::of(n).number;
  type const t = e.result_type(n);
  if (auto const known = e.known(row)) return constant(e.w, t, *known);
  return e.number(n, row, t.element);
}

}  // namespace meshtensor::hlo
