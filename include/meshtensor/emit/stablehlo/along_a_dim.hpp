// SPDX-License-Identifier: Apache-2.0
// Emits cumulative_sum, argsort, top_k and stack.
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

/// Emits a sort of a node's operand that moves the positions along; nan is greater than any number.
inline value sorted_positions(emission& e, node const& n, dim_id dim, bool descending) {
  value const& x = e.operand(n);
  int const along = e.dims(n).find(dim);
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
inline value argsort(emission& e, node const& n) {
  argsort_attributes const a = argsort_attributes::of(n);
  return sorted_positions(e, n, a.dim, a.order == sort_order::descending);
}

/// Emits a sort, of which the first positions are taken.
/// errors  R12 there are fewer elements than are wanted
inline value top_positions(emission& e, node const& n) {
  call_row const& c = e.m.calls[call_of(n)];
  auto const along = static_cast<dim_id>(c.whole.at[0]), best = static_cast<dim_id>(c.gives.at[0]);
  value const all = sorted_positions(e, n, along, true);
  auto const k = static_cast<std::size_t>(e.dims(n).find(along));
  type t = all.type;
  t.shape[k] = e.result_type(n).shape[static_cast<std::size_t>(e.result_dims(n).find(best))];
  if (std::int64_t const there = all.type.shape[k]; t.shape[k] > there)
    throw error("R12", {"top_k: there are no ", t.shape[k], " greatest of the ", there, " elements along '",
                        e.m.dim_name(along), "'"});
  value const first =
      e.w.op("slice", {all}, t,
             "start_indices = " + array_text(extents(t.shape.size())) + ", limit_indices = " + array_text(t.shape) +
                 ", strides = " + array_text(extents(t.shape.size(), 1)));
  shape given{};
  for (int i = 0; i < e.dims(n).count; ++i) given.add(static_cast<int>(k) == i ? best : dim_id{e.dims(n).at[i]});
  return e.laid(convert(e.w, first, "i32"), given, e.result_dims(n), e.result_type(n).shape);
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
