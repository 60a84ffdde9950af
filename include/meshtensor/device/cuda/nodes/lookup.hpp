// SPDX-License-Identifier: Apache-2.0
// Runs gather, scatter_add and put on the GPU. The results have the same bits as those of a loop through the rows in
// order, because rows with the same index are sorted before they are added.
#pragma once

#include "meshtensor/device/cuda/nodes/movement.hpp"
#include "meshtensor/device/cuda/text/index.hpp"
#include "meshtensor/op/detail/lookup.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/put.hpp"
#include "meshtensor/op/scatter_add.hpp"

namespace meshtensor::cuda {

namespace detail {

/// Writes the element at an index as a position along the dim of a table. It is -1 outside of the table's part on this
/// rank.
inline std::string position_text(view const& table, int along, view const& index, char const* offset) {
  return joined({"i64 at = to<i64>(get(((const ", type_text(index.type), "*)a.p[1])[", offset,
                 "]));\nif (at < 0 || at >= ", table.total[along], "ll) at = -1; else { at -= ", table.origin[along],
                 "ll; if (at < 0 || at >= ", table.extent[along], "ll) at = -1; }\n"});
}

inline node_work gather_of(preparation& p, node const& n, view const* x, view const& y) {
  view const &table = x[0], &index = x[1];
  int const along = table.find(lookup_attributes::of(n).dim);
  index_text all;
  for (int i = 0; i < y.count; ++i) all.add(y, i, {&table, &index, &y});
  std::string const type = type_text(y.type);
  prepared_kernel const k = p.over_elements(
      joined({"if (i >= ", y.size(), "ll) return;\n", all.text("i", "f", 3), position_text(table, along, index, "f1"),
              "((", type, "*)a.p[", max_kernel_operands, "])[f2] = at < 0 ? put<", type, ">(", register_text(y.type),
              "(0)) : ((const ", type, "*)a.p[0])[f0 + at * ", table.stride[along], "ll];\n"}),
      y.size());
  return
      [k](recording& to_do, evaluation const& e, address state, address) { to_do.launch(k, arguments_of(e, state)); };
}

/// The rows of a lookup: its entries, which are numbered in the order of plain loops, and the elements of a row.
struct row_walk {
  // `entries` gives offsets in the index and in `rows`, and a key. `elements` gives offsets in the table and in `rows`.
  index_text entries, elements;
  std::int64_t keys = 1, shared = 1;

  row_walk(view const& table, view const& index, view const& rows, int dim) {
    int const along = table.find(dim);
    std::int64_t const length = table.extent[along];
    auto const is_key = [&](int i) { return index.find(rows.dim[i]) >= 0 && table.find(rows.dim[i]) >= 0; };
    auto const is_element = [&](int i) { return index.find(rows.dim[i]) < 0 && table.find(rows.dim[i]) >= 0; };
    std::int64_t key_stride[max_dims_of_one] = {};
    for (int i = rows.count; i-- > 0;)
      if (is_key(i)) key_stride[i] = shared * length, shared *= rows.extent[i];
    keys = shared * length;
    auto const stride = [](view const& v, int d) {
      int const q = v.find(d);
      return q < 0 ? std::int64_t{0} : v.stride[q];
    };
    for (bool const outer : {true, false})
      for (int i = 0; i < rows.count; ++i)
        if (!is_element(i) && is_key(i) == outer)
          entries.add(rows.extent[i], {stride(index, rows.dim[i]), rows.stride[i], key_stride[i]});
    for (int i = 0; i < rows.count; ++i)
      if (is_element(i)) elements.add(rows.extent[i], {stride(table, rows.dim[i]), rows.stride[i]});
  }
  /// Writes the offset in the table of the first element of a key's row.
  std::string table_offset(view const& table, view const& index, view const& rows, int dim, char const* key) const {
    int const along = table.find(dim);
    index_text at;
    for (int i = 0; i < rows.count; ++i)
      if (index.find(rows.dim[i]) >= 0 && table.find(rows.dim[i]) >= 0)
        at.add(rows.extent[i], {table.stride[table.find(rows.dim[i])]});
    at.add(table.extent[along], {table.stride[along]});
    return at.text(key, "t", 1);
  }
};

inline node_work scatter_add_of(preparation& p, node const& n, view const* operands, view const& y) {
  view const &x = operands[0], &index = operands[1];
  int const dim = lookup_attributes::of(n).dim, along = y.find(dim);
  row_walk const w(y, index, x, dim);
  std::int64_t const entries = w.entries.count(), keys = w.keys, width = w.elements.count();
  if (keys >= 0x7fffffffll || entries >= 0x7fffffffll) return {};
  std::string const entry = w.entries.text("i", "f", 3) + position_text(y, along, index, "f0");
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

/// Puts rows at indices. If several rows have one index, the last one stays.
inline node_work put_rows_of(preparation& p, box_copier const& copier, node const& n, view const* operands,
                             view const& y) {
  view const &part = operands[1], index = operands[2];
  int const dim = put_attributes::of(n).dim, along = y.find(dim);
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
  return [=, &copier](recording& to_do, evaluation const& e, address state, address workspace) {
    view const &x = e.operands[0], &to = e.results[0];
    if (to.data != x.data) copier.by_name(to_do, x, 0, to, 0, id{no_id}, id{no_id}, to.extent);
    launch_arguments a = arguments_of(e, state);
    a.p[1] = e.operands[2].as<std::byte>(), a.p[2] = e.operands[1].as<std::byte>(), a.p[30] = workspace;
    to_do.clear(workspace, keys * 4);
    to_do.launch(mark, a), to_do.launch(write, a);
  };
}

/// Puts at a number, by a copy of one slice.
inline node_work put_slice_of(box_copier const& copier) {
  return [&copier](recording& to_do, evaluation const& e, address, address) {
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

/// The work of a node that reads or writes at indices or puts at a number, or none if the node is another one or too
/// large.
inline node_work lookup_of(preparation& p, box_copier const& copier, node const& n, view const* operands,
                           view const* results) {
  switch (n.kind) {
    case primitive::gather: return detail::gather_of(p, n, operands, results[0]);
    case primitive::scatter_add: return detail::scatter_add_of(p, n, operands, results[0]);
    case primitive::put:
      return put_rule::at_index(n) ? detail::put_rows_of(p, copier, n, operands, results[0])
                                   : detail::put_slice_of(copier);
    default: return {};
  }
}

}  // namespace meshtensor::cuda
