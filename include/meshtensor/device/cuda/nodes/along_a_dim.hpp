// SPDX-License-Identifier: Apache-2.0
// Runs argmax, argsort and cumulative_sum on the GPU.
#pragma once

#include "meshtensor/device/cuda/recording.hpp"
#include "meshtensor/device/cuda/text/index.hpp"
#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/argsort.hpp"
#include "meshtensor/op/cumulative_sum.hpp"

namespace meshtensor::cuda {

namespace detail {

inline node_work just(prepared_kernel const& k) {
  return
      [k](recording& to_do, evaluation const& e, address state, address) { to_do.launch(k, arguments_of(e, state)); };
}

/// Makes a kernel with one block for each row. Each thread finds the greatest of its elements, and then the first
/// thread compares these.
inline node_work argmax_of(preparation& p, node const& n, view const& x, view const& y) {
  int const along = x.find(argmax_attributes::of(n).dim), block = p.block();
  index_text rows;
  for (int i = 0; i < y.count; ++i) rows.add(y, i, {&x, &y});
  std::string const type = type_text(x.type), number = register_text(x.type);
  prepared_kernel const k{
      p.kernels.add(joined({"__shared__ i64 found[",
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
  return just(k);
}

/// Makes a kernel in which an element's position is the number of elements that come before it.
inline node_work argsort_of(preparation& p, node const& n, view const& x, view const& y) {
  argsort_attributes const s = argsort_attributes::of(n);
  int const along = y.find(s.dim), in_x = x.find(s.dim);
  index_text rows;
  for (int i = 0; i < y.count; ++i)
    if (i != along) rows.add(y, i, {&x, &y});
  std::int64_t const length = y.extent[along];
  std::string const type = type_text(x.type), number = register_text(x.type);
  bool const down = s.order == sort_order::descending;
  return just(p.over_elements(joined({"if (i >= ",
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

inline node_work cumulative_sum_of(preparation& p, node const& n, view const& x, view const& y) {
  cumulative_sum_attributes const s = cumulative_sum_attributes::of(n);
  int const along = y.find(s.dim), in_x = x.find(s.dim);
  index_text rows;
  for (int i = 0; i < y.count; ++i)
    if (i != along) rows.add(y, i, {&x, &y});
  std::string const type = type_text(y.type);
  std::string const to = joined({"((", type, "*)a.p[", max_kernel_operands, "])[f1 + at * ", y.stride[along],
                                 "ll] = put<", type, ">(to<", type, ">(sum_so_far.total()));\n"});
  std::string const add_term = "sum_so_far.add(term);\n";
  return just(p.over_elements(joined({"if (i >= ",
                                      rows.count(),
                                      "ll) return;\n",
                                      rows.text("i", "f", 2),
                                      "running<sums, ",
                                      type,
                                      "> sum_so_far;\nfor (i64 j = 0; j < ",
                                      y.extent[along],
                                      "ll; ++j) {\nconst i64 at = ",
                                      s.which.reverse ? joined({y.extent[along] - 1, "ll - j"}) : "j",
                                      ";\nconst sum<",
                                      type,
                                      "> term = (sum<",
                                      type,
                                      ">)get(((const ",
                                      type,
                                      "*)a.p[0])[f0 + at * ",
                                      x.stride[in_x],
                                      "ll]);\n",
                                      s.which.exclusive ? to + add_term : add_term + to,
                                      "}\n"}),
                              rows.count()));
}

}  // namespace detail

/// The work of a node that goes along one dim, or none if the node is another one.
inline node_work along_a_dim_of(preparation& p, node const& n, view const* operands, view const* results) {
  switch (n.kind) {
    case primitive::argmax: return detail::argmax_of(p, n, operands[0], results[0]);
    case primitive::argsort: return detail::argsort_of(p, n, operands[0], results[0]);
    case primitive::cumulative_sum: return detail::cumulative_sum_of(p, n, operands[0], results[0]);
    default: return {};
  }
}

}  // namespace meshtensor::cuda
