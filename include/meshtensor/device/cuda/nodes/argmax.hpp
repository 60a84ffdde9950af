// SPDX-License-Identifier: Apache-2.0
// Runs argmax on the GPU by one block for each row.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/text/index.hpp"
#include "meshtensor/op/argmax.hpp"

namespace meshtensor::cuda {

/// Makes a kernel with one block for each row. Each thread finds the greatest of its elements, and then the first
/// thread compares these.
inline node_work argmax_of(node_setup const& s) {
  view const &x = s.operands[0], &y = s.result;
  int const along = x.find(argmax_attributes::of(s.n).dim), block = s.p.block();
  index_text rows;
  for (int i = 0; i < y.count; ++i) rows.add(y, i, {&x, &y});
  std::string const type = type_text(x.type), number = register_text(x.type);
  prepared_kernel const k{
      s.p.kernels.add(joined({"__shared__ i64 found[",
                              block,
                              "];\nconst i64 i = blockIdx.x;\n",
                              rows.text("i", "f", 2),
                              "const ",
                              type,
                              "* const row = (const ",
                              type,
                              "*)a.p[0] + f0;\ni64 best = threadIdx.x;\nfor (i64 "
                              "j = best + ",
                              block,
                              "; j < ",
                              x.extent[along],
                              "ll; j += ",
                              block,
                              ") if (stands_before<",
                              number,
                              ">(get(row[j * ",
                              x.stride[along],
                              "ll]), get(row[best * ",
                              x.stride[along],
                              "ll]))) best = j;\nfound[threadIdx.x] = best;\n__syncthreads();\nif (threadIdx.x "
                              "!= 0) return;\nfor (int t = 1; t < ",
                              block,
                              " && t < ",
                              x.extent[along],
                              "ll; ++t) {\nconst i64 j = found[t];\nconst ",
                              number,
                              " mine = get(row[best * ",
                              x.stride[along],
                              "ll]), other = get(row[j * ",
                              x.stride[along],
                              "ll]);\nif (stands_before<",
                              number,
                              ">(other, mine) || (!stands_before<",
                              number,
                              ">(mine, other) && j < best)) best = j;\n}\n((i64*)a.p[",
                              max_kernel_operands,
                              "])[f1] = best;\n"}),
                      block),
      {y.size(), block}};
  return detail::just(k);
}

}  // namespace meshtensor::cuda
