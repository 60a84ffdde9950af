// SPDX-License-Identifier: Apache-2.0
// Runs argsort on the GPU by one thread for each element, which counts the elements before its own.
#pragma once

#include <algorithm>

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/text/index.hpp"
#include "meshtensor/op/argsort.hpp"

namespace meshtensor::cuda {

/// Makes a kernel in which an element's position is the number of elements that come before it.
inline node_work argsort_of(node_setup const& s) {
  view const &x = s.operands[0], &y = s.result;
  argsort_attributes const a = argsort_attributes::of(s.n);
  int const along = y.find(a.dim), in_x = x.find(a.dim);
  index_text rows;
  for (int i = 0; i < y.count; ++i)
    if (i != along) rows.add(y, i, {&x, &y});
  std::int64_t const length = y.extent[along];
  std::string const type = type_text(x.type), number = register_text(x.type);
  bool const down = a.order == sort_order::descending;
  return detail::just(s.p.over_elements(joined({"if (i >= ",
                                                y.size(),
                                                "ll) return;\nconst i64 own = i % ",
                                                std::max<std::int64_t>(1, length),
                                                "ll, row = i / ",
                                                std::max<std::int64_t>(1, length),
                                                "ll;\n",
                                                rows.text("row", "f", 2),
                                                "const ",
                                                type,
                                                "* const all = (const ",
                                                type,
                                                "*)a.p[0] + f0;\nconst ",
                                                number,
                                                " mine = get(all[own * ",
                                                x.stride[in_x],
                                                "ll]);\ni64 place = 0;\nfor (i64 j = 0; j < ",
                                                length,
                                                "ll; ++j) {\nconst ",
                                                number,
                                                " other = get(all[j * ",
                                                x.stride[in_x],
                                                "ll]);\nconst bool before = stands_before<",
                                                number,
                                                ">(",
                                                down ? "other, mine" : "mine, other",
                                                "), behind = stands_before<",
                                                number,
                                                ">(",
                                                down ? "mine, other" : "other, mine",
                                                ");\nplace += before || (!behind && j < own) ? 1 : 0;\n}\n((i64*)a.p[",
                                                max_kernel_operands,
                                                "])[f1 + place * ",
                                                y.stride[along],
                                                "ll] = own;\n"}),
                                        y.size()));
}

}  // namespace meshtensor::cuda
