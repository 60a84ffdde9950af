// SPDX-License-Identifier: Apache-2.0
// Emits the calls that are operations of the library. A user's own C++ function has no StableHLO.
#pragma once

#include "meshtensor/emit/stablehlo/top_k.hpp"

namespace meshtensor::hlo {

/// errors  R01 the call is of a user's function
inline value call(emission& e, node const& n) {
  if (e.m.calls[call_of(n)].library == library_call::top_positions) return top_positions(e, n);
  e.refuse_own(n);
}

}  // namespace meshtensor::hlo
