// SPDX-License-Identifier: Apache-2.0
// Emits a reduction. Some sums are composed, so that they need fewer operations or no f64.
#pragma once

#include "meshtensor/emit/stablehlo/linear.hpp"
#include "meshtensor/emit/stablehlo/narrow_sum.hpp"

namespace meshtensor::hlo {

inline value reduce(emission& e, node const& n) {
  auto const kind = static_cast<reduction>(n.function);
  if (kind == reduction::sum && !e.how.has_f64 && e.result_type(n).element == "f64")
    if (auto const made = narrow_sum(e, n).emit()) return *made;
  if (kind == reduction::sum)
    if (auto const made = linear_nodes(e, n).sum()) return *made;
  return reduce(e.w, kind, e.operand(n), lost(e.dims(n), e.result_dims(n)));
}

}  // namespace meshtensor::hlo
