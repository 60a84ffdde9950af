// SPDX-License-Identifier: Apache-2.0
// Records zeros around the body that is being recorded. They are the results where the body does not run.
#pragma once

#include "meshtensor/op/broadcast.hpp"

namespace meshtensor::detail {

/// Records zeros like a value of the innermost region, in the region around it.
constexpr value_id zeros_around(builder& b, value_id inside) {
  value const like = b.m.values[inside];
  region_id const here = b.region;
  b.region = b.m.regions[here].parent, --b.depth;
  value_id const zero = constant(b, 0, like.type);
  value_id const all = like.dims.count == 0 ? zero : broadcast(b, zero, like.dims);
  b.region = here, ++b.depth;
  return all;
}

}  // namespace meshtensor::detail
