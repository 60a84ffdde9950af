// SPDX-License-Identifier: Apache-2.0
// Emits products of two operands, from left to right. A dim is summed as soon as no other operand has it.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// Sums a value over the dims that are no longer needed.
inline value sum_unless_needed(emission& e, value const& v, shape& have, shape const& needed) {
  value const r = reduce(e.w, reduction::sum, v, lost(have, needed));
  have = without(have, without(have, needed));
  return r;
}

struct factor {
  value v;
  shape dims;
};
/// The product of factors, summed over the dims that the result of `n` lacks.
inline value product(emission& e, node const& n, std::vector<factor> const& factors) {
  std::size_t const count = factors.size();
  auto const needed_behind = [&](std::size_t first) {  // needed by the result, or by a factor from `first` on
    shape all = e.result_dims(n);
    for (std::size_t i = first; i < count; ++i) all = united(all, factors[i].dims);
    return all;
  };
  std::string const element = e.result_type(n).element;
  bool const wider = element == "bf16" && count > 2;  // rounded once, at the end
  shape have = factors[0].dims;
  value v = wider ? convert(e.w, factors[0].v, "f32") : factors[0].v;
  v = sum_unless_needed(e, v, have, needed_behind(1));
  for (std::size_t i = 1; i < count; ++i) {
    shape const needed = needed_behind(i + 1);
    shape other = factors[i].dims;
    value const y = sum_unless_needed(e, convert(e.w, factors[i].v, v.type.element), other, united(needed, have));
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
