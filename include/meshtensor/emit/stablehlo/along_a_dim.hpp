// SPDX-License-Identifier: Apache-2.0
// Emits cumulative_sum, argsort and stack.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/sort.hpp"
#include "meshtensor/op/stack.hpp"

namespace meshtensor::hlo {

/// Emits a reduce_window: the window of an element reaches from the first element to it, or from it to the last. If the
/// sum is exclusive, a pad shifts the sums by one.
inline value cumulative_sum(emission& e, node const& n) {
  cumulative_sum_attributes const a = cumulative_sum_attributes::of(n);
  cumulative const which = a.which;
  type const t = e.result_type(n);
  auto const along = static_cast<std::size_t>(e.result_dims(n).find(a.dim));
  std::int64_t const count = t.shape[along];
  bool const wider = t.element == "bf16";  // bf16 is summed in f32
  value const x = wider ? convert(e.w, e.operand(n), "f32") : e.operand(n);
  extents window(t.shape.size(), 1);
  window[along] = count;
  std::string padding;
  for (std::size_t i = 0; i < t.shape.size(); ++i) {
    std::int64_t const all = i == along ? count - 1 : 0;
    padding += (padding.empty() ? "[" : ", [") + list_text(which.reverse ? extents{0, all} : extents{all, 0}) + "]";
  }
  value sums = e.w.op("reduce_window", {x, constant(e.w, {x.type.element, {}}, 0.0)}, x.type,
                      "window_dimensions = " + array_text(window) + ", padding = dense<[" + padding + "]> : tensor<" +
                          std::to_string(t.shape.size()) + "x2xi64>",
                      combining(reduction::sum, x.type.element));
  if (which.exclusive) {
    extents low(t.shape.size()), high = low;
    low[along] = which.reverse ? -1 : 1, high[along] = -low[along];
    sums = e.w.op("pad", {sums, constant(e.w, {x.type.element, {}}, 0.0)}, x.type,
                  "edge_padding_low = " + array_text(low) + ", edge_padding_high = " + array_text(high) +
                      ", interior_padding = " + array_text(extents(low.size())));
  }
  return convert(e.w, sums, t.element);
}

/// Emits a sort of the elements that moves their positions along; nan is greater than any number.
inline value argsort(emission& e, node const& n) {
  value const& x = e.operand(n);
  argsort_attributes const a = argsort_attributes::of(n);
  int const along = e.dims(n).find(a.dim);
  value const both[] = {x, iota(e.w, {"i64", x.type.shape}, along)};
  std::string const t = type{x.type.element, {}}.text(), b = "tensor<i1>";
  bool const descending = a.order == sort_order::descending;
  auto const compared = [&](char const* name, char const* direction, std::string const& operands) {
    return std::string(name) + " = \"stablehlo.compare\"(" + operands +
           ") {comparison_direction = #stablehlo<comparison_direction " + direction + ">} : (" + t + ", " + t +
           ") -> " + b + " ";
  };
  std::string region = "{ ^bb0(%a: " + t + ", %b: " + t + ", %p: tensor<i64>, %q: tensor<i64>): ";
  region += compared("%less", "LT", descending ? "%b, %a" : "%a, %b");
  std::string given = "%less";
  if (meshtensor::is_float(e.m.operand_value(n, 0).type)) {
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

/// Emits a concatenation: each operand gets the new dim with extent 1.
inline value stack(emission& e, node const& n) {
  type const t = e.result_type(n);
  shape const& dims = e.result_dims(n);
  int const along = dims.find(stack_attributes::of(n).dim);
  extents row = t.shape;
  row[static_cast<std::size_t>(along)] = 1;
  std::vector<value> rows;
  for (int k = 0; k < n.operands.count; ++k) rows.push_back(e.laid(e.operand(n, k), e.dims(n, k), dims, row));
  return e.w.op("concatenate", rows, t, "dimension = " + std::to_string(along) + " : i64");
}

}  // namespace meshtensor::hlo
