// SPDX-License-Identifier: Apache-2.0
// Emits the positions along a dim, which are global also if the dim is sharded.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

inline value iota(emission& e, node const& n) { return e.positions(e.m.result_value(n), 0, e.result_type(n), 0); }

}  // namespace meshtensor::hlo
