// SPDX-License-Identifier: Apache-2.0
// Runs the steps of an exchange of rows on the GPU, which count the rows of each group, sort rows by group, and put
// them back.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/nodes/sorted_rows.hpp"
#include "meshtensor/op/all_to_all_rows.hpp"

namespace meshtensor::cuda {

namespace detail {

inline node_work count_rows_of(preparation& p, view const& index, view const& counts) {
  std::int64_t const groups = counts.size(), bytes = counts.bytes();
  prepared_kernel const count = p.over_elements(
      joined({"if (i >= ", index.size(), "ll) return;\n", sorted_rows::group_text(index, 0, 0, groups, groups, "i"),
              "if (at >= 0) atomicAdd((u32*)a.p[", max_kernel_operands, "] + at, 1u);\n"}),
      index.size());
  return [=](recording& to_do, evaluation const& e, address state, address) {
    to_do.clear(e.results[0].as<std::byte>(), bytes);
    to_do.launch(count, arguments_of(e, state));
  };
}

/// Makes a kernel with one thread for each row. The thread goes through the counts until it reaches its row.
inline node_work number_rows_of(preparation& p, view const& counts, view const& rows,
                                all_to_all_rows_attributes const& a) {
  int const groups = counts.find(a.counted), ranks = counts.find(a.holders);
  prepared_kernel const number = p.over_elements(
      joined({"if (i >= ", rows.size(), "ll) return;\ni64 left = i, found = -1;\nfor (i64 g = 0; g < ",
              counts.extent[groups], "ll && found < 0; ++g)\nfor (i64 r = 0; r < ", counts.extent[ranks],
              "ll; ++r) {\nconst i64 many = ((const int*)a.p[0])[r * ", counts.stride[ranks], "ll + g * ",
              counts.stride[groups], "ll];\nif (left < many) { found = g + ", counts.origin[groups],
              "ll; break; }\nleft -= many;\n}\n((i64*)a.p[", max_kernel_operands, "])[i] = found;\n"}),
      rows.size());
  return [number](recording& to_do, evaluation const& e, address state, address) {
    to_do.launch(number, arguments_of(e, state));
  };
}

/// Makes a kernel with one thread for each element of each row, which moves it to its position or back. `tokens` has
/// the dims of the index.
inline node_work place_rows_of(preparation& p, view const& tokens, view const& index, std::int64_t groups,
                               view const& rows, all_to_all_rows_attributes const& dims, bool back) {
  sorted_rows const sorted(p, index, 1, 0, groups, groups);
  index_text entries, elements;
  for (int i = 0; i < index.count; ++i) entries.add(index, i, {&tokens});
  for (int i = 0; i < rows.count; ++i)
    if (rows.dim[i] != dims.holders && rows.dim[i] != dims.rows) elements.add(rows, i, {&tokens, &rows});
  std::int64_t const width = elements.count(), all = entries.count() * width;
  std::string const type = type_text(rows.type);
  std::string const in_row = joined({"[row * ", rows.stride[rows.find(dims.rows)], "ll + e1]"});
  std::string text = joined({"if (i >= ", all, "ll) return;\nconst i64 entry = i / ", std::max<std::int64_t>(1, width),
                             "ll, element = i % ", std::max<std::int64_t>(1, width), "ll;\n",
                             entries.text("entry", "f", 1), elements.text("element", "e", 2),
                             "const i64 row = ((const int*)a.p[", sorted_rows::places, "])[entry];\n"});
  std::string const from = joined({"((const ", type, "*)a.p[0])"}),
                    to = joined({"((", type, "*)a.p[", max_kernel_operands, "])"});
  if (back) add(text, {to, "[f0 + e0] = row < 0 ? put<", type, ">(reg<", type, ">(0)) : ", from, in_row, ";\n"});
  else add(text, {"if (row >= 0) ", to, in_row, " = ", from, "[f0 + e0];\n"});
  prepared_kernel const move = p.over_elements(text, all);
  p.reserve(static_cast<std::size_t>(sorted.bytes()));
  std::int64_t const cleared = back ? 0 : rows.bytes();  // so that rows after the last one are zero
  return [=](recording& to_do, evaluation const& e, address state, address workspace) {
    launch_arguments a = arguments_of(e, state);
    sorted.record(to_do, a, workspace);
    to_do.clear(e.results[0].as<std::byte>(), cleared);
    to_do.launch(move, a);
  };
}

}  // namespace detail

/// The work of a step of an exchange.
inline node_work all_to_all_rows_of(node_setup const& s) {
  auto const a = all_to_all_rows_attributes::of(s.n);
  row_step const step = all_to_all_rows_rule::step_of(s.n);
  view const &x = s.operands[0], &y = s.result;
  if (step == row_step::count) return detail::count_rows_of(s.p, x, y);
  if (step == row_step::number) return detail::number_rows_of(s.p, x, y, a);
  bool const back = step == row_step::back;
  return detail::place_rows_of(s.p, back ? y : x, s.operands[1], s.operands[2].size(), back ? x : y, a, back);
}

}  // namespace meshtensor::cuda
