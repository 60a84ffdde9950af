// SPDX-License-Identifier: Apache-2.0
// Runs scatter_add on the GPU. The results have the same bits as those of a loop through the rows in order, because
// rows with the same index are sorted before they are added.
#pragma once

#include <algorithm>

#include "meshtensor/device/cuda/nodes/lookup_rows.hpp"
#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/op/detail/lookup.hpp"
#include "meshtensor/op/scatter_add.hpp"

namespace meshtensor::cuda {

/// The work of a scatter_add, or none if it is too large.
inline node_work scatter_add_of(node_setup const& s) {
  preparation& p = s.p;
  view const &x = s.operands[0], &index = s.operands[1], &y = s.result;
  int const dim = lookup_attributes::of(s.n).dim, along = y.find(dim);
  detail::row_walk const w(y, index, x, dim);
  std::int64_t const entries = w.entries.count(), keys = w.keys, width = w.elements.count();
  if (keys >= 0x7fffffffll || entries >= 0x7fffffffll) return {};
  std::string const entry = w.entries.text("i", "f", 3) + detail::position_text(y, along, index, "f0");
  std::string const guard = joined({"if (i >= ", entries, "ll) return;\n"});
  // For each key, p[30] has the number of its rows, the beginning of its rows, and the number of placed rows. The
  // entries of each key are in p[31] in any order, and sorted in p[32].
  prepared_kernel const count =
      p.over_elements(guard + entry + "if (at >= 0) atomicAdd((u32*)a.p[30] + (f2 + at), 1u);\n", entries);
  int const block = p.block();
  std::int64_t const each = (keys + block - 1) / block;
  prepared_kernel const begin{
      p.kernels.add(
          joined({"__shared__ u32 sums[", block, "];\nu32* const counts = (u32*)a.p[30], *const first = counts + ",
                  keys, ";\nconst i64 from = threadIdx.x * ", each, "ll;\ni64 end = from + ", each, "ll;\nif (end > ",
                  keys, "ll) end = ", keys,
                  "ll;\nu32 own = 0;\nfor (i64 k = from; k < end; ++k) own += counts[k];\nsums[threadIdx.x] = "
                  "own;\n__syncthreads();\nu32 at = 0;\nfor (unsigned t = 0; t < threadIdx.x; ++t) at += "
                  "sums[t];\nfor (i64 k = from; k < end; ++k) { first[k] = at; at += counts[k]; }\n"}),
          block),
      {1, block}};
  prepared_kernel const place =
      p.over_elements(guard + entry +
                          joined({"if (at < 0) return;\nconst i64 key = f2 + at;\nu32* const counts = "
                                  "(u32*)a.p[30];\n((u32*)a.p[31])[counts[",
                                  keys, "ll + key] + atomicAdd(counts + ", 2 * keys, "ll + key, 1u)] = (u32)i;\n"}),
                      entries);
  prepared_kernel const order = p.over_elements(
      guard + entry +
          joined({"if (at < 0) return;\nconst i64 key = f2 + at;\nconst u32* const counts = (const "
                  "u32*)a.p[30];\nconst u32 first = counts[",
                  keys,
                  "ll + key], many = counts[key];\nu32 before = 0;\nfor (u32 j = 0; j < many; ++j) before += "
                  "((const u32*)a.p[31])[first + j] < (u32)i ? 1u : 0u;\n((u32*)a.p[32])[first + before] = (u32)i;\n"}),
      entries);
  std::string const type = type_text(y.type);
  prepared_kernel const sum = p.over_elements(
      joined({"if (i >= ",
              keys * width,
              "ll) return;\nconst i64 key = i / ",
              std::max<std::int64_t>(1, width),
              "ll, element = i % ",
              std::max<std::int64_t>(1, width),
              "ll;\n",
              w.elements.text("element", "e", 2),
              w.table_offset(y, index, x, dim, "key"),
              "const u32* const counts = (const u32*)a.p[30];\nconst u32 first = counts[",
              keys,
              "ll + key], many = counts[key];\nrunning<sums, ",
              type,
              "> r;\nfor (u32 j = 0; j < many; ++j) {\nconst i64 row = ((const u32*)a.p[32])[first + j];\n",
              w.entries.text("row", "f", 3),
              "r.add((sum<",
              type,
              ">)get(((const ",
              type,
              "*)a.p[0])[f1 + e1]));\n}\n((",
              type,
              "*)a.p[",
              max_kernel_operands,
              "])[t0 + e0] = put<",
              type,
              ">(to<",
              type,
              ">(r.total()));\n"}),
      keys * width);
  std::int64_t const counts = (3 * keys * 4 + 255) / 256 * 256, list = (entries * 4 + 255) / 256 * 256;
  p.reserve(static_cast<std::size_t>(counts + 2 * list));
  return [=](recording& to_do, evaluation const& e, address state, address workspace) {
    launch_arguments a = arguments_of(e, state);
    a.p[30] = workspace, a.p[31] = workspace + counts, a.p[32] = a.p[31] + list;
    to_do.clear(workspace, counts);
    to_do.launch(count, a), to_do.launch(begin, a), to_do.launch(place, a), to_do.launch(order, a);
    to_do.launch(sum, a);
  };
}

}  // namespace meshtensor::cuda
