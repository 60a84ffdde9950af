// SPDX-License-Identifier: Apache-2.0
// Emits an einsum as products of two operands, from left to right; a dim is summed as soon as no other operand has it.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// Sums a value over the dims that are no longer needed.
inline value sum_unless_needed(emission& e, value const& v, shape& have, shape const& needed) {
  value const r = reduce(e.w, reduction::sum, v, lost(have, needed));
  have = without(have, without(have, needed));
  return r;
}

inline value einsum(emission& e, node const& n) {
  int const count = n.operands.count;
  auto const needed_behind = [&](int first) {  // needed by the result, or by an operand from `first` on
    shape all = e.result_dims(n);
    for (int i = first; i < count; ++i) all = united(all, e.dims(n, i));
    return all;
  };
  std::string const element = e.result_type(n).element;
  bool const wider = element == "bf16" && count > 2;  // rounded once, at the end
  shape have = e.dims(n);
  value v = wider ? convert(e.w, e.operand(n), "f32") : e.operand(n);
  v = sum_unless_needed(e, v, have, needed_behind(1));
  for (int i = 1; i < count; ++i) {
    shape const needed = needed_behind(i + 1);
    shape other = e.dims(n, i);
    value const y = sum_unless_needed(e, convert(e.w, e.operand(n, i), v.type.element), other, united(needed, have));
    extents kept[2], summed[2];
    shape next{};
    for (int k = 0; k < have.count; ++k) {
      int const there = other.find(have.at[k]);
      if (there < 0) continue;
      bool const stays = needed.has(have.at[k]);
      (stays ? kept : summed)[0].push_back(k), (stays ? kept : summed)[1].push_back(there);
      if (stays) next.add(have.at[k]);
    }
    v = dot(e.w, v, y, kept, summed);
    have = united(united(next, without(have, other)), without(other, have));
    v = sum_unless_needed(e, v, have, needed);
  }
  return e.laid(convert(e.w, v, element), have, e.result_dims(n), e.result_type(n).shape);
}

}  // namespace meshtensor::hlo
