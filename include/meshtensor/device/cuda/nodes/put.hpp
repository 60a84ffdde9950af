// SPDX-License-Identifier: Apache-2.0
// Runs put on the GPU: it puts one slice at a number, or rows at indices, of which the last one with an index stays.
#pragma once

#include <algorithm>

#include "meshtensor/device/cuda/nodes/lookup_rows.hpp"
#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/op/put.hpp"

namespace meshtensor::cuda {

namespace detail {

/// Puts rows at indices. If several rows have one index, the last one stays.
inline node_work put_rows_of(node_setup const& s) {
  preparation& p = s.p;
  view const &part = s.operands[1], &index = s.operands[2], &y = s.result;
  int const dim = put_attributes::of(s.n).dim, along = y.find(dim);
  row_walk const w(y, index, part, dim);
  std::int64_t const entries = w.entries.count(), keys = w.keys, width = w.elements.count();
  if (entries >= 0x7fffffffll) return {};
  std::string const type = type_text(y.type);
  std::string const entry = w.entries.text("i", "f", 3) + position_text(y, along, index, "f0");
  prepared_kernel const mark = p.over_elements(joined({"if (i >= ", entries, "ll) return;\n"}) + entry +
                                                   "if (at >= 0) atomicMax((int*)a.p[30] + (f2 + at), (int)i + 1);\n",
                                               entries);
  prepared_kernel const write = p.over_elements(
      joined({"if (i >= ", entries * width, "ll) return;\nconst i64 element = i % ", std::max<std::int64_t>(1, width),
              "ll, row = i / ", std::max<std::int64_t>(1, width), "ll;\n", w.elements.text("element", "e", 2),
              w.entries.text("row", "f", 3), position_text(y, along, index, "f0"),
              "if (at < 0 || ((const int*)a.p[30])[f2 + at] != (int)row + 1) return;\nconst i64 key = f2 + at;\n",
              w.table_offset(y, index, part, dim, "key"), "((", type, "*)a.p[", max_kernel_operands,
              "])[t0 + e0] = ((const ", type, "*)a.p[2])[f1 + e1];\n"}),
      entries * width);
  p.reserve(static_cast<std::size_t>(keys * 4));
  return [=, &copier = s.copier](recording& to_do, evaluation const& e, address state, address workspace) {
    view const &x = e.operands[0], &to = e.results[0];
    if (to.data != x.data) copier.by_name(to_do, x, 0, to, 0, id{no_id}, id{no_id}, to.extent);
    launch_arguments a = arguments_of(e, state);
    a.p[1] = e.operands[2].as<std::byte>(), a.p[2] = e.operands[1].as<std::byte>(), a.p[30] = workspace;
    to_do.clear(workspace, keys * 4);
    to_do.launch(mark, a), to_do.launch(write, a);
  };
}

/// Puts at a number, by a copy of one slice.
inline node_work put_slice_of(node_setup const& s) {
  return [&copier = s.copier](recording& to_do, evaluation const& e, address, address) {
    constexpr auto none = id{no_id};
    view const &x = e.operands[0], &y = e.results[0];
    if (y.data != x.data) copier.by_name(to_do, x, 0, y, 0, none, none, y.extent);
    std::int64_t const first = put_rule::start_of(e);
    if (first < 0) return;
    view at = y;
    at.extent[y.find(put_attributes::of(e.n).dim)] = 1;
    copier.by_name(to_do, e.operands[1], 0, at, first, none, none, at.extent);
  };
}

}  // namespace detail

/// The work of a put, or none if it is too large.
inline node_work put_of(node_setup const& s) {
  return put_rule::at_index(s.n) ? detail::put_rows_of(s) : detail::put_slice_of(s);
}

}  // namespace meshtensor::cuda
