// SPDX-License-Identifier: Apache-2.0
// Emits argsort.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/emit/stablehlo/functions.hpp"
#include "meshtensor/op/argsort.hpp"

namespace meshtensor::hlo {

/// Emits a sort of a node's operand, and returns the positions of the sorted elements. A NaN is greater than any
/// number.
inline value sorted_positions(emission& e, value const& x, int along, bool descending = false) {
  value const both[] = {x, iota(e.w, {"i64", x.type.shape}, along)};
  std::string const t = type{x.type.element, {}}.text(), b = "tensor<i1>";
  auto const compared = [&](char const* name, char const* direction, std::string const& operands) {
    return std::string(name) + " = \"stablehlo.compare\"(" + operands +
           ") {comparison_direction = #stablehlo<comparison_direction " + direction + ">} : (" + t + ", " + t +
           ") -> " + b + " ";
  };
  std::string region = "{ ^bb0(%a: " + t + ", %b: " + t + ", %p: tensor<i64>, %q: tensor<i64>): ";
  region += compared("%less", "LT", descending ? "%b, %a" : "%a, %b");
  std::string given = "%less";
  if (is_float(x.type.element)) {
    region += compared("%last", "NE", descending ? "%a, %a" : "%b, %b");
    region += compared("%other", "EQ", descending ? "%b, %b" : "%a, %a");
    for (char const* step : {"%nan = \"stablehlo.and\"(%last, %other)", "%comes = \"stablehlo.or\"(%less, %nan)"})
      region += std::string(step) + " : (" + b + ", " + b + ") -> " + b + " ";
    given = "%comes";
  }
  region += "\"stablehlo.return\"(" + given + ") : (" + b + ") -> () }";
  std::string const own = e.w.fresh();
  e.w.line(own + ":2 = " + writer::call("sort", both, region) + " {dimension = " + std::to_string(along) +
           " : i64, is_stable = true} : (" + writer::types(both) + ") -> (" + writer::types(both) + ")");
  return {own + "#1", both[1].type};
}
inline value argsort(emission& e, node const& n) {
  argsort_attributes const a = argsort_attributes::of(n);
  return sorted_positions(e, e.operand(n), e.dims(n).find(a.dim), a.order == sort_order::descending);
}

}  // namespace meshtensor::hlo
