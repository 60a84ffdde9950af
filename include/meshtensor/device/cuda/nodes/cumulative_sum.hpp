// SPDX-License-Identifier: Apache-2.0
// Runs cumulative_sum on the GPU by one thread for each row.
#pragma once

#include <string>

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/text/index.hpp"
#include "meshtensor/op/cumulative_sum.hpp"

namespace meshtensor::cuda {

inline node_work cumulative_sum_of(node_setup const& s) {
  view const &x = s.operands[0], &y = s.result;
  cumulative_sum_attributes const a = cumulative_sum_attributes::of(s.n);
  int const along = y.find(a.dim), in_x = x.find(a.dim);
  index_text rows;
  for (int i = 0; i < y.count; ++i)
    if (i != along) rows.add(y, i, {&x, &y});
  std::string const type = type_text(y.type);
  std::string const to = joined({"((", type, "*)a.p[", max_kernel_operands, "])[f1 + at * ", y.stride[along],
                                 "ll] = put<", type, ">(to<", type, ">(sum_so_far.total()));\n"});
  std::string const add_term = "sum_so_far.add(term);\n";
  return detail::just(s.p.over_elements(joined({"if (i >= ",
                                                rows.count(),
                                                "ll) return;\n",
                                                rows.text("i", "f", 2),
                                                "running<sums, ",
                                                type,
                                                "> sum_so_far;\nfor (i64 j = 0; j < ",
                                                y.extent[along],
                                                "ll; ++j) {\nconst i64 at = ",
                                                a.which.reverse ? joined({y.extent[along] - 1, "ll - j"}) : "j",
                                                ";\nconst sum<",
                                                type,
                                                "> term = (sum<",
                                                type,
                                                ">)get(((const ",
                                                type,
                                                "*)a.p[0])[f0 + at * ",
                                                x.stride[in_x],
                                                "ll]);\n",
                                                a.which.exclusive ? to + add_term : add_term + to,
                                                "}\n"}),
                                        rows.count()));
}

}  // namespace meshtensor::cuda
