// SPDX-License-Identifier: Apache-2.0
// Emits products of two operands, from left to right. A dim is summed as soon as no other operand has it.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// Dims that are needed later, which may be more than a tensor has.
using needed_dims = std::vector<shape>;
inline shape without_needed(shape dims, needed_dims const& needed) {
  for (shape const& some : needed) dims = without(dims, some);
  return dims;
}

/// Sums a value over the dims that are no longer needed.
inline value sum_unless_needed(emission& e, value const& v, shape& have, needed_dims const& needed) {
  shape const kept = without(have, without_needed(have, needed));
  value const r = reduce(e.w, reduction::sum, v, lost(have, kept));
  have = kept;
  return r;
}

/// Reports T07 of the product of the first operands, which is a tensor that the program does not name.
[[noreturn, gnu::cold]] inline void refuse_product(emission const& e, node const& n, std::size_t operands) {
  diagnostic where{};
  locate(where, e.m, n);
  throw error("T07", {"the product of the first ", operands,
                      " operands has more than 10 dims: begin with operands that share dims, or sum over dims before",
                      where.view()});
}

struct factor {
  value v;
  shape dims;
};
/// The product of factors, summed over the dims that the result of `n` lacks.
inline value product(emission& e, node const& n, std::vector<factor> const& factors) {
  std::size_t const count = factors.size();
  auto const needed_behind = [&](std::size_t first) {  // needed by the result, or by a factor from `first` on
    needed_dims all{e.result_dims(n)};
    for (std::size_t i = first; i < count; ++i) all.push_back(factors[i].dims);
    return all;
  };
  std::string const element = e.result_type(n).element;
  bool const wider = element == "bf16" && count > 2;  // rounded once, at the end
  shape have = factors[0].dims;
  value v = wider ? convert(e.w, factors[0].v, "f32") : factors[0].v;
  v = sum_unless_needed(e, v, have, needed_behind(1));
  for (std::size_t i = 1; i < count; ++i) {
    needed_dims const needed = needed_behind(i + 1);
    needed_dims with_have = needed;
    with_have.push_back(have);
    shape other = factors[i].dims;
    value const y = sum_unless_needed(e, convert(e.w, factors[i].v, v.type.element), other, with_have);
    extents kept[2], summed[2];
    shape next{};
    for (int k = 0; k < have.count; ++k) {
      int const there = other.find(have.at[k]);
      if (there < 0) continue;
      bool const stays = without_needed(shape{}.add(have.at[k]), needed).count == 0;
      (stays ? kept : summed)[0].push_back(k), (stays ? kept : summed)[1].push_back(there);
      if (stays) next.add(have.at[k]);
    }
    v = dot(e.w, v, y, kept, summed);
    have = united(united(next, without(have, other)), without(other, have));
    if (!have.fits()) refuse_product(e, n, i + 1);
    v = sum_unless_needed(e, v, have, needed);
  }
  return e.laid(convert(e.w, v, element), have, e.result_dims(n), e.result_type(n).shape);
}

}  // namespace meshtensor::hlo
