// SPDX-License-Identifier: Apache-2.0
// Emits an einsum as products of two operands, from left to right. A dim is summed as soon as no other operand has it.
#pragma once

#include "meshtensor/emit/stablehlo/looked_up.hpp"
#include "meshtensor/op/grouped_einsum.hpp"

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

inline value einsum(emission& e, node const& n) {
  std::vector<factor> factors;
  for (int i = 0; i < n.operands.count; ++i) factors.push_back({e.operand(n, i), e.dims(n, i)});
  return product(e, n, factors);
}

/// Emits an einsum with a mask of rows and groups. Therefore it costs as many times the arithmetic as there are groups.
inline value grouped_einsum(emission& e, node const& n) {
  int const groups = grouped_einsum_attributes::of(n).groups;
  int const with = e.dims(n, 0).has(groups) ? 0 : e.dims(n, 1).has(groups) ? 1 : 2;
  value_id const table_id = with == 2 ? e.m.result(n) : e.m.operand(n, with);
  meshtensor::value const& table = e.m.values[table_id];
  int const along = table.dims.find(groups);
  value const index = places_in_part(e, e.operand(n, 2), table, along);
  shape const by = e.dims(n, 2), both = shape(by).add(groups);
  extents sizes = index.type.shape, one;
  one.push_back(e.type_of(table_id).shape[static_cast<std::size_t>(along)]);
  sizes.push_back(one[0]);
  value const asked = e.laid(index, by, both, sizes);
  value const place = e.laid(iota(e.w, {index.type.element, one}, 0), shape{}.add(groups), both, sizes);
  value const mask = convert(e.w, compare(e.w, "EQ", {asked, place}), e.result_type(n).element);
  int const rows = with == 0 ? 1 : 0, other = 1 - rows;
  return product(e, n, {{e.operand(n, rows), e.dims(n, rows)}, {mask, both}, {e.operand(n, other), e.dims(n, other)}});
}

}  // namespace meshtensor::hlo
