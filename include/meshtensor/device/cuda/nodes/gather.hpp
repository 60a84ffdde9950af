// SPDX-License-Identifier: Apache-2.0
// Runs gather on the GPU by one thread for each element of the result.
#pragma once

#include "meshtensor/device/cuda/nodes/lookup_rows.hpp"
#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/text/index.hpp"
#include "meshtensor/op/detail/lookup.hpp"
#include "meshtensor/op/gather.hpp"

namespace meshtensor::cuda {

/// The work that writes the rows of `y` from a table, at the positions of an index along a dim.
inline node_work gathered_rows(node_setup const& s, view const& y, dim_id dim) {
  view const &table = s.operands[0], &index = s.operands[1];
  int const along = table.find(dim);
  index_text all;
  for (int i = 0; i < y.count; ++i) all.add(y, i, {&table, &index, &y});
  std::string const type = type_text(y.type);
  prepared_kernel const k =
      s.p.over_elements(joined({"if (i >= ", y.size(), "ll) return;\n", all.text("i", "f", 3),
                                detail::position_text(table, along, index, "f1"), "((", type, "*)a.p[",
                                max_kernel_operands, "])[f2] = at < 0 ? put<", type, ">(", register_text(y.type),
                                "(0)) : ((const ", type, "*)a.p[0])[f0 + at * ", table.stride[along], "ll];\n"}),
                        y.size());
  return detail::just(k);
}

inline node_work gather_of(node_setup const& s) { return gathered_rows(s, s.result, lookup_attributes::of(s.n).dim); }

}  // namespace meshtensor::cuda
