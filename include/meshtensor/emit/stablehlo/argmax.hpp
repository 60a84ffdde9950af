// SPDX-License-Identifier: Apache-2.0
// Emits argmax as the maximum and the first position that has it.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/argmax.hpp"

namespace meshtensor::hlo {

/// The position of the greatest element, and of the first one among equals. A NaN is greater than any number.
inline value argmax(emission& e, node const& n) {
  int const along = e.dims(n).find(argmax_attributes::of(n).dim);
  value const x = e.operand(n);
  value const most = e.laid(reduce(e.w, reduction::max, x, {along}), e.result_dims(n), e.dims(n), x.type.shape);
  value const place = iota(e.w, {"i64", x.type.shape}, along);
  value const none = like(e.w, place, x.type.shape[static_cast<std::size_t>(along)]);
  value hit = compare(e.w, "EQ", {x, most});
  if (meshtensor::is_float(e.m.operand_value(n, 0).type))  // a NaN makes `most` a NaN, which equals nothing
    hit = binary(e.w, "or", {hit, compare(e.w, "NE", {x, x})});
  return reduce(e.w, reduction::min, select(e.w, {hit, place, none}), {along});
}

}  // namespace meshtensor::hlo
